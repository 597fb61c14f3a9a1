import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 5;

/**
 * Waits for the condition to hold, and fails when it does not in time. The limit is for what never
 * comes to pass; how soon it has to is another matter, which depends on the machine.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  limitMs = 30_000,
): Promise<void> {
  const startedAtMs = performance.now();
  while (!(await condition())) {
    if (performance.now() - startedAtMs > limitMs) {
      throw new Error(`it did not come to pass within ${limitMs} ms`);
    }
    await wait(POLL_MS);
  }
}
