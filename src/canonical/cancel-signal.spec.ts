import { describe, expect, it } from '@jest/globals';
import { waitUnless } from './cancel-signal.js';

describe(waitUnless.name, () => {
  it('waits in full when nothing happens', async () => {
    const startedMs = performance.now();
    expect(await waitUnless(new AbortController().signal, 30)).toBe(true);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(29);
  });

  it('ends at once when the signal fires, and leaves no listener', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 10);
    const startedMs = performance.now();
    expect(await waitUnless(controller.signal, 10_000)).toBe(false);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });

  it('does not wait when the signal has fired', async () => {
    expect(await waitUnless(AbortSignal.abort(), 10_000)).toBe(false);
  });
});
