import { setTimeout as wait } from 'node:timers/promises';

const LATE = Symbol('late');

/**
 * Returns what the promise resolves to. The limit catches hangs and is generous enough for a busy
 * machine.
 *
 * @throws Error when the promise does not settle within `limitMs`
 */
export async function within<Result>(limitMs: number, promise: Promise<Result>): Promise<Result> {
  const late = wait<typeof LATE>(limitMs, LATE, { ref: false });
  const result = await Promise.race([promise, late]);
  if (result === LATE) throw new Error(`not settled within ${limitMs} ms`);
  return result;
}
