import { setTimeout as wait } from 'node:timers/promises';

/** Fails when the promise is not settled in time, for which any machine has to have enough. */
export async function within(limitMs: number, promise: Promise<void>): Promise<void> {
  const late = wait(limitMs, true, { ref: false });
  if (await Promise.race([promise, late])) throw new Error(`not within ${limitMs} ms`);
}
