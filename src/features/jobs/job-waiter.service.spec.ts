import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { onFakeClock } from '../../../test/support/on-fake-clock.js';
import type { JobStatus, JobView } from './job.js';
import { JobEndEvents, JobWaiter } from './job-waiter.service.js';
import type { JobsRepository } from './jobs.repository.js';

const ID = 'img_1';

/** A table with one job that moves to its next state on each read and stays in the last. */
function waiterOf(endEvents: JobEndEvents, ...states: (JobStatus | 'unseen')[]) {
  const find = jest.fn((_tenantId: string, id: string) => {
    const status = states.length > 1 ? states.shift() : states[0];
    return Promise.resolve(status === 'unseen' ? undefined : ({ id, status } as JobView));
  });
  return { find, waiter: new JobWaiter({ find } as unknown as JobsRepository, endEvents) };
}

describe(JobEndEvents.name, () => {
  it('notifies listeners until they unsubscribe', () => {
    const events = new JobEndEvents();
    const [first, second, stranger] = [jest.fn(), jest.fn(), jest.fn()];
    const leave = events.onEnd(ID, first);
    events.onEnd(ID, second);
    events.onEnd('img_2', stranger);
    events.ended(ID);
    leave();
    events.ended(ID);
    expect([first, second, stranger].map(({ mock }) => mock.calls.length)).toEqual([1, 2, 0]);
  });
});

describe(JobWaiter.name, () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('returns an ended job at once', async () => {
    const { waiter, find } = waiterOf(new JobEndEvents(), 'failed');
    const job = await waiter.wait('tenant', ID, new AbortController().signal);
    expect(job).toMatchObject({ id: ID, status: 'failed' });
    expect(find.mock.calls).toEqual([['tenant', ID]]);
  });

  it('polls with growing delays of at most two seconds', async () => {
    const { waiter, find } = waiterOf(
      new JobEndEvents(),
      ...Array<JobStatus>(9).fill('in_progress'),
      'succeeded',
    );
    const { result, passedMs } = await onFakeClock(() =>
      waiter.wait('tenant', ID, new AbortController().signal),
    );
    expect(result?.status).toBe('succeeded');
    expect(find).toHaveBeenCalledTimes(10);
    // 200, 300, 450, 675, 1012.5, 1518.75 and three times 2000 ms.
    expect(passedMs).toBeGreaterThan(10_100);
    expect(passedMs).toBeLessThan(10_200);
  });

  it('reads the row at once when this process has ended the job', async () => {
    const events = new JobEndEvents();
    const { waiter } = waiterOf(events, 'queued', 'succeeded');
    const waiting = waiter.wait('tenant', ID, new AbortController().signal);
    await jest.advanceTimersByTimeAsync(1);
    const atMs = Date.now();
    events.ended(ID);
    expect((await waiting)?.status).toBe('succeeded');
    expect(Date.now()).toBe(atMs);
  });

  it('waits for a job that is not visible yet', async () => {
    const { waiter } = waiterOf(new JobEndEvents(), 'unseen', 'succeeded');
    const { result } = await onFakeClock(() =>
      waiter.wait('tenant', ID, new AbortController().signal),
    );
    expect(result?.status).toBe('succeeded');
  });

  it('stops when the caller disconnects', async () => {
    const { waiter, find } = waiterOf(new JobEndEvents(), 'queued');
    const caller = new AbortController();
    const waiting = waiter.wait('tenant', ID, caller.signal);
    await jest.advanceTimersByTimeAsync(1);
    caller.abort();
    await expect(waiting).resolves.toBeUndefined();
    expect(find.mock.calls.length).toBeLessThanOrEqual(2);
  });

  it('returns the result to a caller who disconnects at the same time', async () => {
    const { waiter } = waiterOf(new JobEndEvents(), 'cancelled');
    const job = await waiter.wait('tenant', ID, AbortSignal.abort());
    expect(job?.status).toBe('cancelled');
  });
});
