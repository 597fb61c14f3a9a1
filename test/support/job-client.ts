import { setTimeout as wait } from 'node:timers/promises';
import type { BootedGateway } from './boot-gateway.js';

export interface JobBody {
  id: string;
  object: string;
  status: string;
  provider: string | null;
  completed_at: number | null;
  expires_at: number | null;
  result: { data: { url: string; content_type: string; bytes: number }[] } | null;
  error: { code: string; message: string } | null;
  usage: Record<string, number> | null;
}

export interface JobListBody {
  jobs: (Record<string, unknown> & {
    id: string;
    status: string;
    actual_cost: number;
    reserved_credits: number;
  })[];
  pagination: { offset: number; limit: number; has_more: boolean };
}

export async function submitJob(
  gateway: BootedGateway,
  body: object,
  headers?: Record<string, string>,
): Promise<JobBody> {
  const response = await gateway.post('/v1/jobs', body, headers);
  const job = (await response.json()) as JobBody;
  if (response.status !== 202) throw new Error(`${response.status}: ${JSON.stringify(job)}`);
  return job;
}

export async function readJob(gateway: BootedGateway, id: string): Promise<JobBody> {
  return (await (await gateway.fetch(`/v1/jobs/${id}`)).json()) as JobBody;
}

/** Waits until the job has one of these statuses. */
export async function jobIn(
  gateway: BootedGateway,
  id: string,
  ...statuses: string[]
): Promise<JobBody> {
  const endMs = Date.now() + 60_000;
  for (;;) {
    const job = await readJob(gateway, id);
    if (statuses.includes(job.status)) return job;
    if (Date.now() > endMs) throw new Error(`still ${job.status}, not ${statuses.join(' or ')}`);
    await wait(20);
  }
}

export async function listJobs(gateway: BootedGateway, query = ''): Promise<JobListBody> {
  const response = await gateway.fetch(`/v1/customer/jobs${query}`);
  return (await response.json()) as JobListBody;
}

export async function listedJob(
  gateway: BootedGateway,
  id: string,
): Promise<JobListBody['jobs'][number]> {
  return (await listJobs(gateway, '?limit=200')).jobs.find((job) => job.id === id)!;
}
