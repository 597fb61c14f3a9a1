import { jest } from '@jest/globals';

/**
 * Runs something on Jest's fake clock, which must be in use. Whenever it waits for a timer, the clock
 * advances to that timer.
 *
 * @returns the result and the milliseconds that passed on the fake clock
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
