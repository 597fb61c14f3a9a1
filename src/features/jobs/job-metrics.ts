import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Database } from '../../platform/database/database.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { JOB_MODALITIES, OPEN_STATUSES, type JobModality, type JobStatus } from './job.js';

/** Metrics of jobs. A job that succeeds and then expires unfetched counts in both states. */
@Injectable()
export class JobMetrics {
  private readonly submittedJobs: Counter;
  private readonly endedJobs: Counter;

  constructor(metrics: GatewayMetrics, database: Database) {
    const { registry } = metrics;
    this.submittedJobs = new Counter({
      name: 'gateway_jobs_submitted_total',
      help: 'Accepted jobs by the provider of their first route.',
      labelNames: ['modality', 'provider'],
      registers: [registry],
    });
    this.endedJobs = new Counter({
      name: 'gateway_jobs_ended_total',
      help: 'Ended jobs by final status.',
      labelNames: ['modality', 'provider', 'status'],
      registers: [registry],
    });
    metrics.trackShared(
      'gateway_jobs_open',
      'Open jobs of all instances.',
      ['modality', 'status'],
      () => countOpen(database),
    );
  }

  submitted(modality: JobModality, provider: string): void {
    this.submittedJobs.inc({ modality, provider });
  }

  ended(modality: JobModality, provider: string, status: JobStatus): void {
    this.endedJobs.inc({ modality, provider, status });
  }
}

async function countOpen(database: Database) {
  const { rows } = await database.lookUps.query<{ modality: string; status: string; jobs: number }>(
    `SELECT modality, status, count(*) AS jobs FROM jobs
     WHERE status IN ('queued', 'in_progress') GROUP BY modality, status`,
  );
  return JOB_MODALITIES.flatMap((modality) =>
    OPEN_STATUSES.map((status) => {
      const row = rows.find((each) => each.modality === modality && each.status === status);
      return { labels: { modality, status }, value: row?.jobs ?? 0 };
    }),
  );
}
