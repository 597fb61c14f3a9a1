import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import type { Lease } from '../../platform/durable-work/lease.js';
import { WorkEngine } from '../../platform/durable-work/work-engine.js';
import type {
  RunOutcome,
  WorkDepth,
  WorkHandler,
} from '../../platform/durable-work/work-handler.js';
import type { Place } from '../../platform/durable-work/work-slots.js';
import type { WorkTopic } from '../../platform/durable-work/work-topic.js';
import { JobFollowUp } from './job-follow-up.service.js';
import { JobClaims, type JobClaim } from './job-claims.repository.js';
import { JobEndEvents } from './job-waiter.service.js';
import { JobRunner } from './job-runner.service.js';

/** Beyond this bound a tenant's jobs are not queued here; the sweep wakes them again. */
const MAX_WAITING_PER_TENANT = 1_000;
/** Pause after an internal failure. */
const FAILURE_PAUSE_MS = 750;

/**
 * Works on due jobs: submits them to a vendor or polls their state. Concurrency is limited per provider and process,
 * and waiting tenants take turns. Polls have separate slots, so that long submissions do not delay results.
 */
@Injectable()
export class JobWorker implements WorkHandler<JobClaim> {
  readonly areLost: string;
  readonly topic: WorkTopic<JobClaim>;

  constructor(
    private readonly claims: JobClaims,
    private readonly runner: JobRunner,
    private readonly followUp: JobFollowUp,
    private readonly endEvents: JobEndEvents,
    @Inject(APP_CONFIG) config: Pick<AppConfig, 'jobs'>,
    engine: WorkEngine,
  ) {
    this.areLost = claims.areLost;
    this.topic = engine.register<JobClaim>(JobWorker.name, this, {
      topic: 'jobs',
      slots: {
        perGroup: config.jobs.concurrency,
        atOnce: Infinity,
        waiting: MAX_WAITING_PER_TENANT,
      },
      failurePauseMs: FAILURE_PAUSE_MS,
      stops: 'with-drain',
      // The vendor may have accepted an interrupted submission, so no other worker may submit it.
      isRepeatable: false,
    });
  }

  /** Returns where the next step of a due job runs. Follows up on a job that is not due. */
  async place(id: string): Promise<Place | undefined> {
    const due = await this.claims.peek(id);
    if (due) {
      const kind = due.step === 'accepted' ? 'poll' : 'submit';
      return { group: `${kind} ${due.provider}`, owner: due.tenantId };
    }
    await this.followUp.run(id);
    return undefined;
  }

  claim(id: string): Promise<JobClaim | undefined> {
    return this.claims.claim(id);
  }

  renew(claim: JobClaim): Promise<boolean> {
    return this.claims.renew(claim);
  }

  async run(claim: JobClaim, lease: Lease): Promise<RunOutcome> {
    const unsubscribe = this.endEvents.onEnd(claim.id, () => lease.lose());
    try {
      return (await this.runner.run(claim, lease)) ?? {};
    } finally {
      unsubscribe();
    }
  }

  release(claims: readonly JobClaim[], delayMs: number): Promise<void> {
    return this.claims.release(claims, delayMs);
  }

  /** Polls are left to other instances; submissions are awaited. */
  leavesAtOnce({ job }: JobClaim): boolean {
    return job.step === 'accepted';
  }

  takeLost(limit: number): Promise<string[]> {
    return this.claims.takeLost(limit);
  }

  depth(): Promise<WorkDepth> {
    return this.claims.depth();
  }
}
