import type { Tone } from '../../ui';

/** What the pages need to know of a job, as the API has it. */
export interface JobState {
  status: string;
  created_at: number;
  completed_at: number | null;
  /** Unix seconds; null: it has made nothing. */
  expires_at: number | null;
  reserved_credits: number;
  actual_cost: number;
}

/** Whether it may still come to something. */
export function isOpen({ status }: Pick<JobState, 'status'>): boolean {
  return status === 'queued' || status === 'in_progress';
}

/** Whether it had made something, whose charge was given back as nobody fetched it. */
export function isRefunded({ status, expires_at }: JobState): boolean {
  return status === 'expired' && expires_at !== null;
}

/** Whether its files can still be read. */
export function hasFiles({ status, expires_at }: JobState, now: number): boolean {
  return status === 'succeeded' && expires_at !== null && expires_at * 1_000 > now;
}

/** Its state in a word or two. */
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
      return { label: isRefunded(job) ? 'expired, refunded' : 'ran out of time', tone: 'warn' };
    default:
      return { label: job.status.replaceAll('_', ' '), tone: 'neutral' };
  }
}

/** How long it has taken so far, or took, in milliseconds. */
export function durationOf({ created_at, completed_at }: JobState, now: number): number {
  const end = completed_at === null ? now : completed_at * 1_000;
  return Math.max(0, end - created_at * 1_000);
}

/**
 * A file's address on the host that the page is from. Its own may name the gateway otherwise, as by an
 * address that the page's policy does not know.
 */
export function localAddress(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname.slice(Math.max(0, pathname.indexOf('/v1/artifacts/'))) + search;
}

/** A number of bytes in the unit that fits. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const unit = bytes < 1_000_000 ? 'kB' : 'MB';
  const count = bytes / (unit === 'kB' ? 1_000 : 1_000_000);
  return `${count.toFixed(count < 10 ? 1 : 0)} ${unit}`;
}
