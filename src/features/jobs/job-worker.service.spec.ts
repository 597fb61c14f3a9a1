import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ServiceStop } from '../../platform/time/service-stop.js';
import type { ConsumeOptions, Consumer } from '../../platform/queue/work-queue.js';
import type { DueJob, JobClaim } from './job-claims.repository.js';
import type { JobLease } from './job-lease.js';
import type { NextLook } from './job-runner.service.js';
import { JobEndEvents } from './job-waiter.service.js';
import { JobWorker } from './job-worker.service.js';

type Parts = ConstructorParameters<typeof JobWorker>;

/** A worker with two slots per provider and a table of due jobs. */
function world({ step = 'waiting' }: { step?: DueJob['step'] } = {}) {
  const running = new Map<string, { lease: JobLease; end: (next: NextLook) => void }>();
  const queue = {
    consume: jest.fn((_topic: string, _work: Consumer, _options: ConsumeOptions) =>
      Promise.resolve(),
    ),
    wake: jest.fn((_topic: string, _id: string, _options: { delayMs: number }) =>
      Promise.resolve(),
    ),
  };
  const claims = {
    peek: jest.fn((id: string): Promise<DueJob | undefined> =>
      Promise.resolve({ tenantId: `tenant of ${id}`, provider: 'one', step }),
    ),
    claim: jest.fn((id: string): Promise<JobClaim | undefined> =>
      Promise.resolve({ leaseId: id, job: { id } } as JobClaim),
    ),
    release: jest.fn((_claim: JobClaim, _afterMs: number) => Promise.resolve(true)),
    renew: () => Promise.resolve(true),
  };
  const runner = {
    run: jest.fn(
      ({ job }: JobClaim, lease: JobLease) =>
        new Promise<NextLook>((end) => running.set(job.id, { lease, end })),
    ),
  };
  const followUp = { run: jest.fn((_id: string) => Promise.resolve()) };
  const worker = new JobWorker(
    ...([
      queue,
      claims,
      runner,
      followUp,
      new JobEndEvents(),
      new ServiceStop({ drainSeconds: 5, lameDuckSeconds: 0 }),
      { jobs: { concurrency: 2 }, queue: { consume: true } },
    ] as unknown as Parts),
  );
  const begin = async (...ids: string[]): Promise<void> => {
    for (const id of ids) void worker.work(id);
    await settle();
  };
  return { worker, queue, claims, runner, followUp, running, begin };
}

/** Runs pending work without advancing time. */
const settle = () => jest.advanceTimersByTimeAsync(0);

describe(JobWorker.name, () => {
  beforeEach(() => {
    jest.useFakeTimers();
    for (const level of ['warn', 'error'] as const) {
      jest.spyOn(Logger.prototype, level).mockImplementation(() => undefined);
    }
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('runs the follow-up of a job that is not due', async () => {
    const { claims, followUp, runner, begin } = world();
    claims.peek.mockResolvedValue(undefined);
    await begin('a');
    expect(followUp.run).toHaveBeenCalledWith('a');
    expect(runner.run).not.toHaveBeenCalled();
  });

  it('schedules a wake-up just after the job is due, and none for an ended job', async () => {
    const { queue, running, begin } = world();
    await begin('a', 'b');
    running.get('a')!.end({ afterMs: 2_000 });
    running.get('b')!.end(undefined);
    await settle();
    expect(queue.wake.mock.calls).toEqual([['jobs', 'a', { delayMs: 2_025 }]]);
  });

  it('limits jobs per provider and passes freed slots on', async () => {
    const { queue, running, begin } = world();
    await begin('a', 'b', 'c');
    expect([...running.keys()]).toEqual(['a', 'b']);
    // Another instance may have a slot sooner.
    expect(queue.wake.mock.calls).toEqual([['jobs', 'c', { delayMs: expect.any(Number) }]]);
    const { delayMs } = queue.wake.mock.calls[0]![2];
    expect(delayMs).toBeGreaterThanOrEqual(250);
    expect(delayMs).toBeLessThanOrEqual(600);
    running.get('a')!.end(undefined);
    await settle();
    expect([...running.keys()]).toEqual(['a', 'b', 'c']);
  });

  it('frees the slot at once when another instance has the job', async () => {
    const { claims, running, begin } = world();
    claims.claim.mockResolvedValueOnce(undefined);
    await begin('a', 'b', 'c');
    expect([...running.keys()]).toEqual(['b', 'c']);
  });

  it('pauses a failed job and passes its slot on', async () => {
    const { claims, runner, running, begin } = world();
    runner.run.mockRejectedValueOnce(new Error('broken'));
    await begin('a', 'b', 'c');
    expect(claims.release).toHaveBeenCalledWith(expect.objectContaining({ leaseId: 'a' }), 750);
    expect([...running.keys()]).toEqual(['b', 'c']);
  });

  it('tolerates a queue outage, since the sweep finds the job', async () => {
    const { worker, queue, running } = world();
    queue.wake.mockRejectedValue(new Error('away'));
    const work = worker.work('a');
    await settle();
    running.get('a')!.end({ afterMs: 1 });
    await expect(work).resolves.toBeUndefined();
  });

  describe('when the service stops', () => {
    it('waits for submissions on shutdown and takes nothing new', async () => {
      const { worker, runner, running, begin } = world();
      await begin('a');
      let isOver = false;
      void worker.beforeApplicationShutdown().then(() => (isOver = true));
      await begin('b');
      expect(runner.run).toHaveBeenCalledTimes(1);
      expect(running.get('a')!.lease.signal.aborted).toBe(false);
      expect(isOver).toBe(false);
      running.get('a')!.end(undefined);
      await settle();
      expect(isOver).toBe(true);
    });

    it('abandons a slow submission at the drain limit', async () => {
      const { worker, running, begin } = world();
      await begin('a');
      const stopping = worker.beforeApplicationShutdown();
      await jest.advanceTimersByTimeAsync(6_000);
      await stopping;
      expect(running.get('a')!.lease.signal.aborted).toBe(true);
    });

    it('abandons polls at once', async () => {
      const { worker, queue, running, begin } = world({ step: 'accepted' });
      await worker.onApplicationBootstrap();
      await begin('a');
      queue.consume.mock.calls[0]![2].onStop!();
      expect(running.get('a')!.lease.signal.aborted).toBe(true);
    });
  });
});
