import type { TracedAttempt } from '../../core/tracing/recorded-trace.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import type { JobClaim } from './job-claims.repository.js';
import type { JobRoute } from './job-routes.js';

interface StoredAttempt extends Omit<TracedAttempt, 'startedAt'> {
  startedAt: string;
}

/**
 * The claim with one more attempt, which is written with the job's next move.
 *
 * @param error undefined when the vendor took the job
 */
export function withAttempt(
  { leaseId, job }: JobClaim,
  { model, provider }: JobRoute,
  startedAt: Date,
  error?: unknown,
): JobClaim {
  const isFailure = error instanceof UpstreamError;
  const attempt: TracedAttempt = {
    route: { model, provider },
    startedAt,
    durationMs: Date.now() - startedAt.getTime(),
    outcome: isFailure ? error.failure : 'answered',
    status: isFailure ? error.status : undefined,
  };
  const attempts = JSON.stringify([...readAttempts(job.attempts), attempt]);
  return { leaseId, job: { ...job, attempts } };
}

/** What became of the routes that a job has tried, in order. */
export function readAttempts(stored: string): TracedAttempt[] {
  return (JSON.parse(stored) as StoredAttempt[]).map((attempt) => ({
    ...attempt,
    startedAt: new Date(attempt.startedAt),
  }));
}
