import { jest } from '@jest/globals';

/**
 * Runs something on Jest's fake clock, which has to be in use: whenever it waits for a timer, the
 * clock goes on to that timer.
 *
 * @returns what it comes to, and the milliseconds that passed on the fake clock until then
 */
export async function onFakeClock<Result>(
  run: () => Promise<Result>,
): Promise<{ result: Result; passedMs: number }> {
  const startedMs = Date.now();
  let isOver = false;
  const running = run().finally(() => (isOver = true));
  while (!isOver) await jest.advanceTimersToNextTimerAsync();
  return { result: await running, passedMs: Date.now() - startedMs };
}
