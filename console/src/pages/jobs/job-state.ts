import type { Tone } from '../../ui';

/** The fields of a job that decide its state. */
export interface JobState {
  status: string;
  created_at: number;
  completed_at: number | null;
  /** Unix seconds; null if it produced no files. */
  expires_at: number | null;
  reserved_credits: number;
  actual_cost: number;
}

/** Returns whether the job is queued or running. */
export function isOpen({ status }: Pick<JobState, 'status'>): boolean {
  return status === 'queued' || status === 'in_progress';
}

/** Returns whether the job's files expired before anyone fetched them, which refunds the charge. */
export function isRefunded({ status, expires_at }: JobState): boolean {
  return status === 'expired' && expires_at !== null;
}

/** Returns whether the job's files can still be read. */
export function hasFiles({ status, expires_at }: JobState, now: number): boolean {
  return status === 'succeeded' && expires_at !== null && expires_at * 1_000 > now;
}

/** Returns the label and tone of a job's state. */
export function stateOf(job: JobState): { label: string; tone: Tone } {
  switch (job.status) {
    case 'queued':
      return { label: 'queued', tone: 'neutral' };
    case 'in_progress':
      return { label: 'in progress', tone: 'info' };
    case 'succeeded':
      return { label: 'succeeded', tone: 'good' };
    case 'failed':
      return { label: 'failed', tone: 'bad' };
    case 'expired':
      return { label: isRefunded(job) ? 'expired, refunded' : 'timed out', tone: 'warn' };
    default:
      return { label: job.status.replaceAll('_', ' '), tone: 'neutral' };
  }
}

/** Returns the duration in milliseconds, up to now for an open job. */
export function durationOf({ created_at, completed_at }: JobState, now: number): number {
  const end = completed_at === null ? now : completed_at * 1_000;
  return Math.max(0, end - created_at * 1_000);
}

/**
 * Rewrites a file URL to the page's own host. The API may use another base URL, which the content security
 * policy does not allow.
 */
export function localAddress(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname.slice(Math.max(0, pathname.indexOf('/v1/artifacts/'))) + search;
}

/** Formats a size in B, kB or MB. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const unit = bytes < 1_000_000 ? 'kB' : 'MB';
  const count = bytes / (unit === 'kB' ? 1_000 : 1_000_000);
  return `${count.toFixed(count < 10 ? 1 : 0)} ${unit}`;
}
