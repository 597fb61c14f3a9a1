/**
 * A reading that costs others time: who asks while one is under way, or so soon after its end, gets that one.
 *
 * @param freshMs how long a reading is good for after its end, whether it gave something or threw
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
