import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { GatewayMetrics } from '../metrics/gateway-metrics.js';
import type { JobModality, JobStatus } from './job.js';

/** Jobs in numbers. A job that has succeeded and then expired unfetched counts in both. */
@Injectable()
export class JobMetrics {
  private readonly submittedJobs: Counter;
  private readonly endedJobs: Counter;

  constructor({ registry }: GatewayMetrics) {
    this.submittedJobs = new Counter({
      name: 'gateway_jobs_submitted_total',
      help: 'Jobs that were taken in, by the provider of their first route.',
      labelNames: ['modality', 'provider'],
      registers: [registry],
    });
    this.endedJobs = new Counter({
      name: 'gateway_jobs_ended_total',
      help: 'Jobs that came to an end, by how.',
      labelNames: ['modality', 'provider', 'status'],
      registers: [registry],
    });
  }

  submitted(modality: JobModality, provider: string): void {
    this.submittedJobs.inc({ modality, provider });
  }

  ended(modality: JobModality, provider: string, status: JobStatus): void {
    this.endedJobs.inc({ modality, provider, status });
  }
}
