/**
 * Returns the result of `work`, or that of `late` after `limitMs`. The work continues; its failure after the limit
 * is ignored.
 */
export async function within<Result, Late>(
  limitMs: number,
  work: Promise<Result>,
  late: () => Late,
): Promise<Result | Late> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, limitMs, LATE);
  });
  try {
    const first = await Promise.race([work, timeUp]);
    if (first !== LATE) return first;
  } finally {
    clearTimeout(timer);
  }
  return late();
}

const LATE = Symbol('late');

/** Returns whether `work` settled within `limitMs`. */
export function endsWithin(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  );
  return within(limitMs, ended, () => false);
}
