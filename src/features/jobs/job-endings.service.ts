import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Usage, UsageSource } from '../../canonical/usage.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { LedgerService } from '../../core/ledger/ledger.service.js';
import type { RequestOutcome } from '../../core/ledger/request-log/request-log-row.js';
import { JobAfterwards } from './job-afterwards.service.js';
import { jobEndingRecord, type JobEnding } from './job-ending.record.js';
import { DEADLINE_PASSED, toJobFailure } from './job-failure.js';
import { JobMetrics } from './job-metrics.js';
import { JobNotices } from './job-notices.js';
import { readRoutes } from './job-routes.js';
import { JobTraces } from './job-traces.service.js';
import type { EndableJob } from './job.js';
import { JobsRepository } from './jobs.repository.js';
import type { BillableRoute } from '../../canonical/billable-route.js';

/** What a job that went well has used and made. */
export interface JobSuccess {
  readonly route: BillableRoute;
  readonly usage: Usage;
  readonly source: UsageSource;
  readonly artifactIds: readonly string[];
}

type Ending = Omit<JobEnding, 'jobId' | 'endedBy' | 'attempts'>;

/**
 * The ends that a job may come to. Each settles the job's hold and moves its row in one transaction,
 * so of several that are tried at the same time, wherever, exactly one takes place. All of them say
 * whether it was theirs.
 */
@Injectable()
export class JobEndings {
  constructor(
    private readonly ledger: LedgerService,
    private readonly repository: JobsRepository,
    private readonly afterwards: JobAfterwards,
    private readonly notices: JobNotices,
    private readonly metrics: JobMetrics,
    private readonly traces: JobTraces,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {}

  succeed(job: EndableJob, success: JobSuccess): Promise<boolean> {
    const { route, usage, source, artifactIds } = success;
    const { artifactTtlSeconds } = this.config.jobs;
    const { provider } = route;
    const ending: Ending = {
      status: 'succeeded',
      provider,
      usage,
      artifactIds,
      artifactTtlSeconds,
    };
    return this.end(job, 'completed', ending, success.route, { usage, source });
  }

  /** Costs nothing. @param error what came between */
  fail(job: EndableJob, error: unknown): Promise<boolean> {
    return this.end(job, 'failed', { status: 'failed', failure: toJobFailure(error) });
  }

  /** Costs nothing. */
  cancel(job: EndableJob): Promise<boolean> {
    return this.end(job, 'cancelled', { status: 'cancelled' });
  }

  /** The deadline has passed. Costs nothing. */
  expire(job: EndableJob): Promise<boolean> {
    return this.end(job, 'failed', { status: 'expired', failure: toJobFailure(DEADLINE_PASSED) });
  }

  private async end(
    job: EndableJob,
    outcome: RequestOutcome,
    ending: Ending,
    route = routeOf(job),
    billed?: { usage: Usage; source: UsageSource },
  ): Promise<boolean> {
    const endedBy = randomUUID();
    const errorType = ending.failure?.type ?? null;
    const { attempts } = job;
    await this.ledger.end(
      { ...job, startedAt: job.createdAt, isFlagged: job.flagged },
      {
        outcome,
        errorType,
        route,
        billed,
        generationTimeMs: job.acceptedAt ? Date.now() - job.acceptedAt.getTime() : 0,
        record: jobEndingRecord({ ...ending, attempts, jobId: job.id, endedBy }),
      },
    );
    // Whose settlement it was a commit without an answer does not tell; the row does.
    const isOurs = (await this.repository.findEnding(job.id)).endedBy === endedBy;
    this.notices.ended(job.id);
    if (isOurs) {
      this.metrics.ended(job.modality, route.provider, ending.status);
      this.afterwards.attendSoon(job.id);
      if (job.isTraced) this.traces.endedSoon(job.id);
    }
    return isOurs;
  }
}

function routeOf({ routes, routeIndex }: EndableJob): BillableRoute {
  const all = readRoutes(routes);
  return all[Math.min(routeIndex, all.length - 1)]!;
}
