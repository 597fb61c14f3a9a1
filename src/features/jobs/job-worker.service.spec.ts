import { describe, expect, it, jest } from '@jest/globals';
import { Lease } from '../../platform/durable-work/lease.js';
import type { WorkPolicy } from '../../platform/durable-work/work-handler.js';
import type { DueJob, JobClaim } from './job-claims.repository.js';
import type { NextLook } from './job-runner.service.js';
import { JobEndEvents } from './job-waiter.service.js';
import { JobWorker } from './job-worker.service.js';

type Parts = ConstructorParameters<typeof JobWorker>;

const CLAIM = { id: 'a', leaseId: 'lease', job: { id: 'a', step: 'waiting' } } as JobClaim;

function world(due?: DueJob) {
  const claims = { peek: jest.fn(() => Promise.resolve(due)) };
  const runner = {
    run: jest.fn((_claim: JobClaim, _lease: Lease) => Promise.resolve<NextLook>(undefined)),
  };
  const followUp = { run: jest.fn((_id: string) => Promise.resolve()) };
  const events = new JobEndEvents();
  const register = jest.fn((_name: string, _handler: object, _policy: WorkPolicy) => undefined);
  const worker = new JobWorker(
    ...([
      claims,
      runner,
      followUp,
      events,
      { jobs: { concurrency: 2 } },
      { register },
    ] as unknown as Parts),
  );
  return { worker, runner, followUp, events, policy: register.mock.calls[0]![2] };
}

describe(JobWorker.name, () => {
  it('runs the follow-up of a job that is not due', async () => {
    const { worker, followUp } = world();
    expect(await worker.place('a')).toBeUndefined();
    expect(followUp.run).toHaveBeenCalledWith('a');
  });

  it.each([
    ['waiting', 'submit one'],
    ['accepted', 'poll one'],
  ] as const)('limits a %s job per provider and by tenant', async (step, group) => {
    const { worker, policy } = world({ tenantId: 'tenant', provider: 'one', step });
    expect(await worker.place('a')).toEqual({ group, owner: 'tenant' });
    expect(policy).toMatchObject({ slots: { perGroup: 2 }, isRepeatable: false });
  });

  it('awaits submissions on shutdown, and leaves polls at once', () => {
    const { worker } = world();
    expect(worker.leavesAtOnce(CLAIM)).toBe(false);
    expect(worker.leavesAtOnce({ ...CLAIM, job: { ...CLAIM.job, step: 'accepted' } })).toBe(true);
  });

  it('stops only the work of a job that ended here', async () => {
    const { worker, runner, events } = world();
    let end: (next: NextLook) => void = () => undefined;
    runner.run.mockReturnValue(new Promise((resolve) => (end = resolve)));
    const lease = new Lease();
    const run = worker.run(CLAIM, lease);
    events.ended('b');
    expect(lease.signal.aborted).toBe(false);
    events.ended('a');
    expect(lease.signal.aborted).toBe(true);
    end({ afterMs: 5 });
    expect(await run).toEqual({ afterMs: 5 });
  });
});
