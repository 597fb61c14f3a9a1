import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import {
  FREED,
  IS_FREE,
  LEASED,
  LeasedRows,
  runAtAfter,
} from '../../platform/durable-work/leased-rows.js';
import type { Claim, WorkDepth } from '../../platform/durable-work/work-handler.js';
import type { MediaBody } from './job-body.js';
import type { RequestTags } from '../../canonical/request-tags.js';
import type { StoredAttempt, StoredRoute } from './job-routes.js';
import type { JobModality, JobStatus } from './job.js';

export type JobStep = 'waiting' | 'submitting' | 'accepted';

/** A job claimed by a worker. */
export interface ClaimedJob {
  readonly id: string;
  readonly tenantId: string;
  readonly apiKeyId: string;
  readonly requestId: string;
  readonly endpoint: string;
  readonly modality: JobModality;
  readonly status: JobStatus;
  readonly body: MediaBody;
  readonly routes: readonly StoredRoute[];
  readonly flagged: boolean;
  readonly storedEndUser: string | null;
  readonly tags: RequestTags | null;
  readonly step: JobStep;
  readonly routeIndex: number;
  /**
   * Failed rounds of the current step: passes over all routes, then attempts to fetch the result.
   */
  readonly round: number;
  readonly operation: string | null;
  readonly acceptedAt: Date | null;
  readonly polls: number;
  readonly createdAt: Date;
  /** True when the deadline has passed. */
  readonly isLate: boolean;
  /** Attempts made so far. */
  readonly attempts: readonly StoredAttempt[];
  readonly isTraced: boolean;
  readonly deadlineAt: Date;
}

/** A job that is ready to be claimed. */
export type DueJob = Pick<ClaimedJob, 'tenantId' | 'step'> & { readonly provider: string };

/** A lease on a job. A newer claim invalidates it. */
export interface JobClaim extends Claim {
  readonly leaseId: string;
  readonly job: ClaimedJob;
}

const COLUMNS = `id, tenant_id AS "tenantId", api_key_id AS "apiKeyId", request_id AS "requestId",
  endpoint, modality, status, body::json AS body, routes::json AS routes, flagged,
  end_user AS "storedEndUser", tags, step, route_index AS "routeIndex", round,
  operation, accepted_at AS "acceptedAt", polls, created_at AS "createdAt",
  attempts::json AS attempts, trace IS NOT NULL AS "isTraced", deadline_at AS "deadlineAt", deadline_at <= now() AS "isLate"`;

const IS_OPEN = `status IN ('queued', 'in_progress')`;
const ROWS = new LeasedRows('jobs', IS_OPEN);

/**
 * Stores claims and progress of jobs. Every update checks the lease, so a worker that lost it
 * cannot change the job.
 */
@Injectable()
export class JobClaims {
  readonly areLost = ROWS.areLost;

  constructor(private readonly database: Database) {}

  /** Returns undefined when the job is not due, has ended or is claimed. */
  async claim(id: string): Promise<JobClaim | undefined> {
    const leaseId = randomUUID();
    const { rows } = await this.database.background.query<ClaimedJob>(
      `UPDATE jobs SET lease_id = $2, ${LEASED}
       WHERE id = $1 AND ${IS_OPEN} AND ${IS_FREE} AND run_at <= now()
       RETURNING ${COLUMNS}`,
      [id, leaseId],
    );
    const [job] = rows;
    return job && { id, leaseId, job };
  }

  /** Returns the tenant, provider and step of a due job; undefined when it is not due. */
  async peek(id: string): Promise<DueJob | undefined> {
    const { rows } = await this.database.background.query<DueJob>(
      `SELECT tenant_id AS "tenantId", routes::json -> route_index ->> 'provider' AS provider, step
       FROM jobs
       WHERE id = $1 AND ${IS_OPEN} AND ${IS_FREE} AND run_at <= now()`,
      [id],
    );
    return rows[0];
  }

  /** Returns false when the job has ended or the lease was lost. */
  renew({ leaseId, job }: JobClaim): Promise<boolean> {
    return this.move(LEASED, leaseId, job);
  }

  /** Releases jobs. Others can claim them after the delay. */
  release(claims: readonly JobClaim[], delayMs: number): Promise<void> {
    return ROWS.release(this.database.background, claims, delayMs);
  }

  /** Returns jobs with lost wake-ups or dead workers, and marks them as woken. */
  takeLost(limit: number): Promise<string[]> {
    return ROWS.takeLost(this.database.background, limit);
  }

  depth(): Promise<WorkDepth> {
    return ROWS.depth(this.database.lookUps);
  }

  /** Must commit before the vendor is called: from here on the job is never submitted again. */
  beginSubmission(
    { leaseId, job }: JobClaim,
    routeIndex: number,
    provider: string,
  ): Promise<boolean> {
    return this.move(
      `status = 'in_progress', step = 'submitting', route_index = $3, provider = $4, ${LEASED}`,
      leaseId,
      job,
      [routeIndex, provider],
      `step = 'waiting'`,
    );
  }

  /** The vendor has certainly not accepted the job, so another route may be tried. */
  refused({ leaseId, job }: JobClaim, nextRouteIndex: number): Promise<boolean> {
    return this.move(`step = 'waiting', route_index = $3, attempts = $4`, leaseId, job, [
      nextRouteIndex,
      JSON.stringify(job.attempts),
    ]);
  }

  /** Schedules another pass over the routes after all have refused. */
  retryLater({ leaseId, job }: JobClaim, delayMs: number): Promise<boolean> {
    return this.move(
      `step = 'waiting', route_index = 0, round = round + 1, ${FREED}, ${runAtAfter('$3')}`,
      leaseId,
      job,
      [delayMs],
    );
  }

  /** Records that the vendor accepted the job and runs it asynchronously. */
  accepted({ leaseId, job }: JobClaim, operation: string, delayMs: number): Promise<boolean> {
    return this.move(
      `step = 'accepted', round = 0, operation = $4, accepted_at = coalesce(accepted_at, now()),
       attempts = $5, ${FREED}, ${runAtAfter('$3')}`,
      leaseId,
      job,
      [delayMs, operation, JSON.stringify(job.attempts)],
    );
  }

  /** Records a poll without a result. */
  polled({ leaseId, job }: JobClaim, operation: string, delayMs: number): Promise<boolean> {
    return this.move(
      `operation = $4, polls = polls + 1, ${FREED}, ${runAtAfter('$3')}`,
      leaseId,
      job,
      [delayMs, operation],
    );
  }

  /** Records a failed fetch of a finished result. */
  fetchedInVain({ leaseId, job }: JobClaim, delayMs: number): Promise<boolean> {
    const change = `round = round + 1, ${FREED}, ${runAtAfter('$3')}`;
    return this.move(change, leaseId, job, [delayMs]);
  }

  private async move(
    change: string,
    leaseId: string,
    { id }: ClaimedJob,
    values: unknown[] = [],
    condition = 'true',
  ): Promise<boolean> {
    const { rowCount } = await this.database.background.query(
      `UPDATE jobs SET ${change} WHERE id = $1 AND lease_id = $2 AND ${IS_OPEN} AND ${condition}`,
      [id, leaseId, ...values],
    );
    return rowCount === 1;
  }
}
