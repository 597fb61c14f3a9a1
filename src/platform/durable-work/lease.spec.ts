import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Lease } from './lease.js';

describe(Lease.name, () => {
  const renew = jest.fn<() => Promise<boolean>>();

  beforeEach(() => {
    jest.useFakeTimers();
    renew.mockReset().mockResolvedValue(true);
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('renews several times before it expires', async () => {
    const lease = new Lease(renew);
    await jest.advanceTimersByTimeAsync(14_000);
    expect(renew).toHaveBeenCalledTimes(3);
    expect(lease.signal.aborted).toBe(false);
    lease.end();
  });

  it('stops the work once another worker has the row', async () => {
    renew.mockResolvedValueOnce(true).mockResolvedValue(false);
    const lease = new Lease(renew);
    await jest.advanceTimersByTimeAsync(7_000);
    expect(lease.signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(2_000);
    expect([lease.signal.aborted, lease.leavingSignal.aborted]).toEqual([true, false]);
    lease.end();
  });

  it('tolerates a database outage', async () => {
    renew.mockRejectedValue(new Error('away'));
    const lease = new Lease(renew);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(lease.signal.aborted).toBe(false);
    lease.end();
  });

  it('leaves no timers behind', async () => {
    const lease = new Lease(renew);
    lease.end();
    await jest.advanceTimersByTimeAsync(20_000);
    expect(renew).not.toHaveBeenCalled();
    expect(jest.getTimerCount()).toBe(0);
  });
});
