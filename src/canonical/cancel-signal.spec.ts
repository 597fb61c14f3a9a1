import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { waitUnless } from './cancel-signal.js';

describe(waitUnless.name, () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('waits in full and removes its listener when nothing happens', async () => {
    const { signal } = new AbortController();
    const removed = jest.spyOn(signal, 'removeEventListener');
    const outcome = jest.fn();
    void waitUnless(signal, 30).then(outcome);
    await jest.advanceTimersByTimeAsync(29);
    expect(outcome).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(outcome).toHaveBeenCalledWith(true);
    expect(removed).toHaveBeenCalledTimes(1);
  });

  it('ends at once and clears its timer when the signal fires', async () => {
    const controller = new AbortController();
    const outcome = waitUnless(controller.signal, 10_000);
    await jest.advanceTimersByTimeAsync(10);
    controller.abort();
    expect(await outcome).toBe(false);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('does not wait when the signal has already fired', async () => {
    expect(await waitUnless(AbortSignal.abort(), 10_000)).toBe(false);
  });
});
