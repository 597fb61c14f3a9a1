import { setTimeout as wait } from 'node:timers/promises';

/** What comes soon is seen soon; to ask for what takes seconds, forty times a second is enough. */
const POLL_MS = { first: 5, most: 25, growth: 1.2 };

/**
 * Waits for the condition to hold, and fails when it does not in time. The limit is for what never
 * comes to pass; how soon it has to is another matter, which depends on the machine.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  limitMs = 30_000,
): Promise<void> {
  const startedAtMs = performance.now();
  let pauseMs = POLL_MS.first;
  while (!(await condition())) {
    if (performance.now() - startedAtMs > limitMs) {
      throw new Error(`it did not come to pass within ${limitMs} ms`);
    }
    await wait(pauseMs);
    pauseMs = Math.min(pauseMs * POLL_MS.growth, POLL_MS.most);
  }
}
