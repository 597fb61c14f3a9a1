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

/** Statuses that are not final. */
export const OPEN_STATUSES = ['queued', 'in_progress'] as const satisfies readonly JobStatus[];

/** Returns whether the status is not final. */
export function isOpen(status: JobStatus): boolean {
  return status === 'queued' || status === 'in_progress';
}

/** Why a job failed. */
export interface JobFailure {
  /** `code` of the job's `error`. */
  readonly code: string;
  readonly message: string;
  /** Error type for synchronous callers. */
  readonly type: GatewayErrorType;
  readonly status: number;
  readonly param: string;
  readonly retryAfterSeconds?: number;
}

/** A file produced by a job. */
export interface JobArtifact {
  readonly id: string;
  readonly contentType: string;
  readonly bytes: number;
}

/** A job as its tenant sees it. */
export interface JobView {
  readonly id: string;
  readonly requestId: string;
  readonly tenantId: string;
  /** Endpoint that created it, such as `jobs`. */
  readonly endpoint: string;
  /** Body as sent to the vendor. Only for jobs of the videos API, which returns some fields. */
  readonly body: JsonObject | null;
  readonly modality: JobModality;
  readonly model: string;
  readonly status: JobStatus;
  readonly provider: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly error: JobFailure | null;
  readonly usage: Usage | null;
  /** Credits reserved for it. */
  readonly reservedCredits: number;
  readonly actualCost: number;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
  /** Expiry of the files; before success, the job's deadline. */
  readonly expiresAt: Date;
  /** True when the tenant has deleted it. */
  readonly isDeleted: boolean;
  /** In order. Empty unless the job has succeeded. */
  readonly artifacts: readonly JobArtifact[];
}

/** A row of the job list. */
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

/** The fields needed to end a job. */
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
  /** Attempts to store; undefined keeps the row's. */
  readonly attempts?: readonly StoredAttempt[];
  /** Attempts in the row when it was read. */
  readonly knownAttempts?: readonly StoredAttempt[];
  /** As `toStoredText` encodes it. */
  readonly storedEndUser: string | null;
  readonly tags: RequestTags | null;
  readonly isTraced: boolean;
}

/** Returns an unguessable id whose prefix names the modality. */
export function newJobId(modality: JobModality): string {
  return PREFIXES[modality] + randomBytes(RANDOM_BYTES).toString('hex');
}

/** Returns the modality of a well-formed job id; undefined for ids that need no lookup. */
export function modalityOfJobId(text: string): JobModality | undefined {
  const prefix = /^([a-z]+_)[0-9a-f]{36}$/.exec(text)?.[1];
  const modalities: readonly JobModality[] = ['image', 'video', 'audio'];
  return modalities.find((modality) => PREFIXES[modality] === prefix);
}

/** Returns the id of a file, unique to one attempt at a job. */
export function newArtifactId(jobId: string, position: number): string {
  return `${jobId}-${randomBytes(6).toString('hex')}-${position}`;
}
