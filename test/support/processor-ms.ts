/** Milliseconds of the processor that it took: those of the clock are more on a busy machine. */
export async function processorMsOf(run: () => unknown): Promise<number> {
  const begun = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}
