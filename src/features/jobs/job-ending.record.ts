import type { Usage } from '../../canonical/usage.js';
import { toStoredText } from '../../platform/database/stored-text.js';
import type { SettlementRecord } from '../../core/ledger/ledger-operations.js';
import type { JobFailure, JobStatus } from './job.js';

/** How a job's row ends. */
export interface JobEnding {
  readonly jobId: string;
  /** Names the attempt to end it; of several, the row keeps that of the one that came first. */
  readonly endedBy: string;
  readonly status: Exclude<JobStatus, 'queued' | 'in_progress'>;
  /** Who did the work, or was to do it; undefined: as it stands. */
  readonly provider?: string;
  readonly failure?: JobFailure;
  readonly usage?: Usage;
  /** Files that it made and that are to be given out. */
  readonly artifactIds?: readonly string[];
  /** JSON of the routes that were tried; undefined: as the row has them. */
  readonly attempts?: string;
  /** For how long. */
  readonly artifactTtlSeconds?: number;
}

/**
 * The statement that ends a job, committed together with the settlement of its hold; what is
 * charged in the end is read from the log row of the same transaction.
 */
export function jobEndingRecord(ending: JobEnding): SettlementRecord {
  const { failure, usage, provider } = ending;
  return {
    name: 'end-job',
    text: `
      WITH ended AS (
        UPDATE jobs SET
          status = $2::text, ended_by = $3::uuid, provider = coalesce($4::text, provider),
          error = $5::text, usage = $6::text,
          attempts = coalesce($9::text, attempts), completed_at = now(),
          actual_cost = coalesce((
            SELECT cost FROM request_logs WHERE request_logs.request_id = jobs.request_id
          ), 0),
          expires_at = CASE $2::text WHEN 'succeeded'
            THEN now() + make_interval(secs => $7::double precision) ELSE expires_at END,
          lease_id = NULL, lease_until = NULL, run_at = now(),
          webhook_due = webhook_url IS NOT NULL, trace_due = trace IS NOT NULL,
          cancel_due = operation IS NOT NULL AND $2::text IN ('cancelled', 'expired')
        WHERE id = $1::text AND status IN ('queued', 'in_progress')
        RETURNING id, expires_at
      )
      UPDATE job_artifacts SET kept = true, remove_after = ended.expires_at
      FROM ended
      WHERE job_artifacts.job_id = ended.id
        AND job_artifacts.id IN (SELECT json_array_elements_text($8::json))`,
    values: [
      ending.jobId,
      ending.status,
      ending.endedBy,
      provider === undefined ? null : toStoredText(provider),
      failure ? JSON.stringify(failure) : null,
      usage ? JSON.stringify(usage) : null,
      ending.artifactTtlSeconds ?? 0,
      JSON.stringify(ending.artifactIds ?? []),
      ending.attempts ?? null,
    ],
  };
}
