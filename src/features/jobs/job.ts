import type { RequestTags } from '../../canonical/request-tags.js';
import type { Usage } from '../../canonical/usage.js';
import type { StoredAttempt, StoredRoute } from './job-routes.js';
import type { GatewayErrorType } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { randomBytes } from 'node:crypto';

const PREFIXES: Readonly<Record<JobModality, string>> = {
  image: 'img_',
  video: 'vid_',
  audio: 'aud_',
};

const RANDOM_BYTES = 18;

export const JOB_STATUSES = [
  'queued',
  'in_progress',
  'succeeded',
  'failed',
  'cancelled',
  'expired',
] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const JOB_MODALITIES = ['image', 'video', 'audio'] as const;
export type JobModality = (typeof JOB_MODALITIES)[number];

/** A job in one of these may still come to something. */
export const OPEN_STATUSES = ['queued', 'in_progress'] as const satisfies readonly JobStatus[];

/** True as long as the job may still come to something. */
export function isOpen(status: JobStatus): boolean {
  return status === 'queued' || status === 'in_progress';
}

/** Why a job came to nothing. */
export interface JobFailure {
  /** What the job's `error` says. */
  readonly code: string;
  readonly message: string;
  /** What a caller who waits is answered with. */
  readonly type: GatewayErrorType;
  readonly status: number;
  readonly param: string;
  readonly retryAfterSeconds?: number;
}

/** A file that a job has made. */
export interface JobArtifact {
  readonly id: string;
  readonly contentType: string;
  readonly bytes: number;
}

/** What a tenant sees of its job. */
export interface JobView {
  readonly id: string;
  readonly requestId: string;
  readonly tenantId: string;
  /** What it was made by, as `jobs`. */
  readonly endpoint: string;
  /** As its vendor gets it; only of what the videos API made, which shows some of it. */
  readonly body: JsonObject | null;
  readonly modality: JobModality;
  readonly model: string;
  readonly status: JobStatus;
  readonly provider: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly error: JobFailure | null;
  readonly usage: Usage | null;
  /** Credits that were held for it. */
  readonly reservedCredits: number;
  readonly actualCost: number;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
  /** Of what it made; until then the job's deadline. */
  readonly expiresAt: Date;
  /** Its tenant does not want to see it any more. */
  readonly isDeleted: boolean;
  /** In order; only of a job that has succeeded. */
  readonly artifacts: readonly JobArtifact[];
}

/** A line of the list of jobs. */
export interface JobListRow {
  readonly id: string;
  readonly modality: JobModality;
  readonly model: string;
  readonly status: JobStatus;
  readonly createdAt: Date;
  readonly actualCost: number;
  readonly reservedCredits: number;
  readonly errorMessage: string | null;
  readonly expiresAt: Date;
}

/** What has to be known of a job to end it. */
export interface EndableJob {
  readonly id: string;
  readonly tenantId: string;
  readonly apiKeyId: string;
  readonly requestId: string;
  readonly endpoint: string;
  readonly modality: JobModality;
  readonly routes: readonly StoredRoute[];
  readonly routeIndex: number;
  readonly flagged: boolean;
  readonly acceptedAt: Date | null;
  readonly createdAt: Date;
  /** The routes that were tried; undefined: as the row has them. */
  readonly attempts?: readonly StoredAttempt[];
  /** Those that the row had when it was read. */
  readonly knownAttempts?: readonly StoredAttempt[];
  /** As `toStoredText` has it. */
  readonly storedEndUser: string | null;
  readonly tags: RequestTags | null;
  readonly isTraced: boolean;
}

/** An id that nobody can guess; its prefix tells the modality. */
export function newJobId(modality: JobModality): string {
  return PREFIXES[modality] + randomBytes(RANDOM_BYTES).toString('hex');
}

/** The modality of what can be one of our ids; anything else need not be looked up. */
export function modalityOfJobId(text: string): JobModality | undefined {
  const prefix = /^([a-z]+_)[0-9a-f]{36}$/.exec(text)?.[1];
  const modalities: readonly JobModality[] = ['image', 'video', 'audio'];
  return modalities.find((modality) => PREFIXES[modality] === prefix);
}

/** The id of a file that one attempt at a job makes; no other attempt makes the same. */
export function newArtifactId(jobId: string, position: number): string {
  return `${jobId}-${randomBytes(6).toString('hex')}-${position}`;
}
