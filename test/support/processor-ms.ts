/** Returns the processor time of a run in milliseconds, which does not depend on other load. */
export async function processorMsOf(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
