/**
 * Shares an expensive reading: callers get the one in progress, or the last one while it is fresh.
 *
 * @param freshMs how long a result or failure is reused
 */
export function sharedReading<Result>(
  freshMs: number,
  read: () => Promise<Result>,
): () => Promise<Result> {
  let latest: Promise<Result> | undefined;
  let endedAtMs: number | undefined;
  return () => {
    const isGood = endedAtMs === undefined || performance.now() - endedAtMs < freshMs;
    if (latest && isGood) return latest;
    endedAtMs = undefined;
    latest = read();
    const note = (): void => {
      endedAtMs = performance.now();
    };
    latest.then(note, note);
    return latest;
  };
}
