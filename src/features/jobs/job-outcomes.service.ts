import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Usage, UsageSource } from '../../canonical/usage.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { AuditLog, type AuditedChange } from '../../core/audit/audit-log.js';
import { LedgerService } from '../../core/ledger/ledger.service.js';
import { RefundsService } from '../../core/ledger/refunds.service.js';
import type { RequestOutcome } from '../../core/request-log/request-log-row.js';
import { JobFollowUp } from './job-follow-up.service.js';
import { DEADLINE_PASSED, toJobFailure } from './job-failure.js';
import { JobMetrics } from './job-metrics.js';
import { JobEndEvents } from './job-waiter.service.js';
import { readAttempts, readRoutes, type StoredAttempt } from './job-routes.js';
import { JobTraces } from './job-traces.service.js';
import type { EndableJob, JobFailure, JobStatus, JobView } from './job.js';
import { JobsRepository } from './jobs.repository.js';
import type { BillableRoute } from '../../canonical/billable-route.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import type { SettlementRecord } from '../../core/ledger/ledger-operations.js';

/** A vendor's result and its route. */
interface MadeWork {
  readonly route: BillableRoute;
  readonly usage: Usage;
}

/** Usage and files of a successful job. */
interface JobSuccess extends MadeWork {
  readonly source: UsageSource;
  readonly artifactIds: readonly string[];
}

/** The fields of a succeeded job that a refund needs. */
export type RefundableJob = Pick<
  JobView,
  'id' | 'tenantId' | 'requestId' | 'modality' | 'provider'
>;

type Ending = Omit<JobEnding, 'jobId' | 'endedBy' | 'attempts'>;

/**
 * Ends jobs. Each outcome settles the hold and updates the row in one transaction, so exactly one
 * of several concurrent attempts wins. Every method returns whether it won.
 */
@Injectable()
export class JobOutcomes {
  constructor(
    private readonly ledger: LedgerService,
    private readonly repository: JobsRepository,
    private readonly followUp: JobFollowUp,
    private readonly endEvents: JobEndEvents,
    private readonly metrics: JobMetrics,
    private readonly traces: JobTraces,
    private readonly refunds: RefundsService,
    private readonly audit: AuditLog,
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

  /**
   * Fails a job without a charge.
   * @param error the cause
   * @param wasted undelivered work of a vendor, logged as cost
   */
  fail(job: EndableJob, error: unknown, wasted?: MadeWork): Promise<boolean> {
    const ending: Ending = { status: 'failed', failure: toJobFailure(error) };
    return this.end(job, 'failed', ending, wasted?.route, undefined, wasted?.usage);
  }

  /** Cancels a job without a charge. @param audited the audit entry, when a person cancels it */
  cancel(job: EndableJob, audited?: AuditedChange): Promise<boolean> {
    const noted = audited && this.audit.clause(audited, { ofEach: 'ended', first: 10 });
    return this.end(job, 'cancelled', { status: 'cancelled', noted });
  }

  /** Expires a job after its deadline, without a charge. */
  expire(job: EndableJob): Promise<boolean> {
    return this.end(job, 'failed', { status: 'expired', failure: toJobFailure(DEADLINE_PASSED) });
  }

  /**
   * Refunds a succeeded job whose result was not delivered.
   * @param onlyUnfetched refund only if it expired before any fetch
   */
  async refund(job: RefundableJob, { onlyUnfetched }: { onlyUnfetched: boolean }): Promise<void> {
    const { id, tenantId, requestId, modality, provider } = job;
    const refunded = await this.refunds.refund({
      tenantId,
      requestId,
      decide: async (client) => {
        const { rowCount } = await client.query(
          `UPDATE jobs SET status = 'expired', actual_cost = 0,
             webhook_due = webhook_url IS NOT NULL, run_at = now()
           WHERE id = $1 AND status = 'succeeded'
             AND (NOT $2 OR (fetched_at IS NULL AND expires_at <= now()))`,
          [id, onlyUnfetched],
        );
        return rowCount === 1;
      },
    });
    if (refunded === undefined) return;
    this.metrics.ended(modality, provider ?? '', 'expired');
    await this.followUp.run(id);
  }

  private async end(
    job: EndableJob,
    outcome: RequestOutcome,
    ending: Ending,
    route = routeOf(job),
    billed?: { usage: Usage; source: UsageSource },
    wasted?: Usage,
  ): Promise<boolean> {
    const endedBy = randomUUID();
    const errorType = ending.failure?.type ?? null;
    const { attempts } = job;
    await this.ledger.end(
      {
        ...job,
        startedAt: job.createdAt,
        isFlagged: job.flagged,
        endUser: job.storedEndUser === null ? null : fromStoredText(job.storedEndUser),
        attempts: readAttempts(attempts ?? job.knownAttempts ?? []),
      },
      {
        outcome,
        errorType,
        route,
        billed,
        wasted,
        generationTimeMs: job.acceptedAt ? Date.now() - job.acceptedAt.getTime() : 0,
        record: jobEndingRecord({ ...ending, attempts, jobId: job.id, endedBy }),
      },
    );
    // After an unanswered commit only the row shows which settlement won.
    const isOurs = (await this.repository.findEnding(job.id)).endedBy === endedBy;
    this.endEvents.ended(job.id);
    if (isOurs) {
      this.metrics.ended(job.modality, route.provider, ending.status);
      this.followUp.runSoon(job.id);
      if (job.isTraced) this.traces.endedSoon(job.id);
    }
    return isOurs;
  }
}

function routeOf({ routes, routeIndex }: EndableJob): BillableRoute {
  const all = readRoutes(routes);
  return all[Math.min(routeIndex, all.length - 1)]!;
}

/** The final update of a job's row. */
interface JobEnding {
  readonly jobId: string;
  /** Identifies this attempt to end the job. The row stores the winner's. */
  readonly endedBy: string;
  readonly status: Exclude<JobStatus, 'queued' | 'in_progress'>;
  /** The provider to store; undefined keeps the row's. */
  readonly provider?: string;
  readonly failure?: JobFailure;
  readonly usage?: Usage;
  /** Files to publish. */
  readonly artifactIds?: readonly string[];
  /** Attempts to store; undefined keeps the row's. */
  readonly attempts?: readonly StoredAttempt[];
  /** Lifetime of the files. */
  readonly artifactTtlSeconds?: number;
  /** Writes the audit row. Its parameters start at $10. */
  readonly noted?: ReturnType<AuditLog['clause']> | undefined;
}

/**
 * Builds the statement that ends a job, committed with the settlement of its hold. The charge is
 * read from the log row of the same transaction.
 */
function jobEndingRecord(ending: JobEnding): SettlementRecord {
  const { failure, usage, provider } = ending;
  const { noted } = ending;
  return {
    name: noted ? 'end-job-noted' : 'end-job',
    text: `
      WITH ended AS (
        UPDATE jobs SET
          status = $2::text, ended_by = $3::uuid, provider = coalesce($4::text, provider),
          error = $5::text, usage = $6::text,
          attempts = coalesce($9::text, attempts), completed_at = now(),
          actual_cost = coalesce((
            SELECT cost FROM request_logs WHERE request_logs.request_id = jobs.request_id
          ), 0),
          expires_at = CASE $2::text WHEN 'succeeded'
            THEN now() + make_interval(secs => $7::double precision) ELSE expires_at END,
          lease_id = NULL, lease_until = NULL, run_at = now(),
          webhook_due = webhook_url IS NOT NULL, trace_due = trace IS NOT NULL,
          cancel_due = operation IS NOT NULL AND $2::text IN ('cancelled', 'expired')
        WHERE id = $1::text AND status IN ('queued', 'in_progress')
        RETURNING id, expires_at
      )${noted ? `, noted AS (${noted.text})` : ''}
      UPDATE job_artifacts SET kept = true, remove_after = ended.expires_at
      FROM ended
      WHERE job_artifacts.job_id = ended.id
        AND job_artifacts.id IN (SELECT json_array_elements_text($8::json))`,
    values: [
      ending.jobId,
      ending.status,
      ending.endedBy,
      provider === undefined ? null : toStoredText(provider),
      failure ? JSON.stringify(failure) : null,
      usage ? JSON.stringify(usage) : null,
      ending.artifactTtlSeconds ?? 0,
      JSON.stringify(ending.artifactIds ?? []),
      ending.attempts ? JSON.stringify(ending.attempts) : null,
      ...(noted?.values ?? []),
    ],
  };
}
