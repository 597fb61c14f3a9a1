import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Database } from '../../platform/database/database.js';
import { DueWork } from '../../platform/database/due-work.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';
import { LOST_AFTER_SECONDS } from '../../platform/durable-work/leased-rows.js';
import { reasonOf } from './job-failure.js';
import { JobFollowUp } from './job-follow-up.service.js';
import { JobArtifacts, REMOVAL_DUE } from './job-artifacts.service.js';
import { JobOutcomes, type RefundableJob } from './job-outcomes.service.js';
import { JobTraces, TRACE_DUE } from './job-traces.service.js';
import type { EndableJob } from './job.js';
import { ENDABLE } from './jobs.repository.js';

/** Allows a fetch that starts just before the expiry to be recorded. */
const FETCH_GRACE_SECONDS = 5;
const MAX_ROWS = 200;

/** Conditions of each sweep part, shared with the preliminary check. */
const LATE = `status IN ('queued', 'in_progress') AND deadline_at <= now()`;
const UNFETCHED = `status = 'succeeded' AND fetched_at IS NULL
  AND expires_at <= now() - make_interval(secs => ${FETCH_GRACE_SECONDS})`;
const UNFINISHED = `(webhook_due OR cancel_due)
  AND run_at < now() - make_interval(secs => ${LOST_AFTER_SECONDS})`;

/** Conditions by sweep part. */
const WHAT_THERE_IS = {
  late: `EXISTS (SELECT FROM jobs WHERE ${LATE})`,
  unfetched: `EXISTS (SELECT FROM jobs WHERE ${UNFETCHED})`,
  unfinished: `EXISTS (SELECT FROM jobs WHERE ${UNFINISHED})`,
  untold: `EXISTS (SELECT FROM jobs WHERE ${TRACE_DUE})`,
  removable: `EXISTS (SELECT FROM job_artifacts WHERE ${REMOVAL_DUE})`,
};
/** Checks all conditions in one statement. */
const WHICH_THERE_ARE = `SELECT ${Object.entries(WHAT_THERE_IS)
  .map(([part, condition]) => `${condition} AS ${part}`)
  .join(', ')}`;

type WhatThereIs = Record<keyof typeof WHAT_THERE_IS, boolean>;

/**
 * Periodically finds jobs that no wake-up reaches: deadlines, unfetched results, files to remove and
 * unfinished follow-ups. Safe to run on several instances.
 */
@Injectable()
export class JobSweeper implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(JobSweeper.name);
  private readonly timer = new SweepTimer(
    () => this.sweepNow(),
    (error) => this.logFailure('all', error),
  );

  constructor(
    private readonly database: Database,
    private readonly dueWork: DueWork,
    private readonly endings: JobOutcomes,
    private readonly followUp: JobFollowUp,
    private readonly traces: JobTraces,
    private readonly artifacts: JobArtifacts,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.queue.consume) return;
    this.dueWork.watch(Object.values(WHAT_THERE_IS).join(' OR '), this.timer);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Runs every part once. Failed parts are retried on the next sweep. */
  async sweepNow(): Promise<void> {
    let found: WhatThereIs | undefined;
    await this.attempt('all', async () => {
      const { rows } = await this.database.query<WhatThereIs>(WHICH_THERE_ARE);
      found = rows[0];
    });
    if (found?.late) await this.attempt('deadlines', () => this.expireLate());
    if (found?.unfetched) await this.attempt('unfetched results', () => this.refundUnfetched());
    if (found?.unfinished) await this.attempt('ends', () => this.followUpEnds());
    if (found?.untold) await this.attempt('traces', () => this.traces.sweep());
    if (!found?.removable) return;
    await this.attempt('files', async () => {
      while ((await this.artifacts.sweep()) > 0 && !this.timer.isStopped);
    });
  }

  private async expireLate(): Promise<void> {
    const { rows } = await this.database.query<EndableJob>(
      `SELECT ${ENDABLE} FROM jobs WHERE ${LATE}
       ORDER BY deadline_at LIMIT $1`,
      [MAX_ROWS],
    );
    await Promise.all(rows.map((job) => this.endings.expire(job)));
  }

  private async refundUnfetched(): Promise<void> {
    const { rows } = await this.database.query<RefundableJob>(
      `SELECT id, tenant_id AS "tenantId", request_id AS "requestId", modality, provider FROM jobs
       WHERE ${UNFETCHED}
       ORDER BY expires_at LIMIT $1`,
      [MAX_ROWS],
    );
    await this.forEach(rows, (job) => this.endings.refund(job, { onlyUnfetched: true }));
  }

  private async followUpEnds(): Promise<void> {
    const { rows } = await this.database.query<{ id: string }>(
      `SELECT id FROM jobs WHERE ${UNFINISHED} ORDER BY run_at LIMIT $1`,
      [MAX_ROWS],
    );
    await this.forEach(rows, ({ id }) => this.followUp.run(id));
  }

  /** Processes rows sequentially until shutdown. The next sweep takes the rest. */
  private async forEach<Row>(
    rows: readonly Row[],
    act: (row: Row) => Promise<unknown>,
  ): Promise<void> {
    for (const row of rows) {
      if (this.timer.isStopped) return;
      await act(row);
    }
  }

  private async attempt(what: string, sweep: () => Promise<void>): Promise<void> {
    if (this.timer.isStopped) return;
    try {
      await sweep();
    } catch (error) {
      this.logFailure(what, error);
    }
  }

  private logFailure(what: string, error: unknown): void {
    this.logger.warn(`job sweep (${what}) failed: ${reasonOf(error)}`);
  }
}
