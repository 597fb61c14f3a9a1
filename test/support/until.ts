import { setTimeout as wait } from 'node:timers/promises';

/** Short pauses for quick conditions, then 40 polls a second. */
const POLL_MS = { first: 5, most: 25, growth: 1.2 };

/**
 * Waits until the condition holds. The limit catches conditions that never hold; it says nothing
 * about speed, which depends on the machine.
 *
 * @throws Error when the condition does not hold within `limitMs`
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  limitMs = 60_000,
): Promise<void> {
  const startedAtMs = performance.now();
  let pauseMs = POLL_MS.first;
  while (!(await condition())) {
    if (performance.now() - startedAtMs > limitMs) {
      throw new Error(`the condition did not hold within ${limitMs} ms`);
    }
    await wait(pauseMs);
    pauseMs = Math.min(pauseMs * POLL_MS.growth, POLL_MS.most);
  }
}
