import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { JobClaim, JobClaims } from './job-claims.repository.js';
import { JobLease } from './job-lease.js';
import { JobEndEvents } from './job-waiter.service.js';

const claim = { leaseId: 'lease', job: { id: 'img_1' } } as JobClaim;

describe(JobLease.name, () => {
  let events: JobEndEvents;
  const renew = jest.fn<(claim: JobClaim) => Promise<boolean>>();
  const start = (): JobLease => new JobLease({ renew } as unknown as JobClaims, claim, events);

  beforeEach(() => {
    jest.useFakeTimers();
    events = new JobEndEvents();
    renew.mockReset().mockResolvedValue(true);
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('renews several times before it expires', async () => {
    const lease = start();
    await jest.advanceTimersByTimeAsync(14_000);
    expect(renew.mock.calls).toEqual([[claim], [claim], [claim]]);
    expect(lease.signal.aborted).toBe(false);
    lease.end();
  });

  it('stops the work once another worker has the job', async () => {
    renew.mockResolvedValueOnce(true).mockResolvedValue(false);
    const lease = start();
    await jest.advanceTimersByTimeAsync(7_000);
    expect(lease.signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(lease.signal.aborted).toBe(true);
    lease.end();
  });

  it('tolerates a database outage', async () => {
    renew.mockRejectedValue(new Error('away'));
    const lease = start();
    await jest.advanceTimersByTimeAsync(20_000);
    expect(lease.signal.aborted).toBe(false);
    lease.end();
  });

  it('stops only the work of a job that ended here', () => {
    const lease = start();
    events.ended('img_2');
    expect(lease.signal.aborted).toBe(false);
    events.ended('img_1');
    expect(lease.signal.aborted).toBe(true);
    lease.end();
  });

  it('leaves no timers or listeners behind', async () => {
    const lease = start();
    lease.end();
    events.ended('img_1');
    await jest.advanceTimersByTimeAsync(20_000);
    expect(renew).not.toHaveBeenCalled();
    expect(lease.signal.aborted).toBe(false);
    expect(jest.getTimerCount()).toBe(0);
  });
});
