import type { ReactNode } from 'react';
import { formatDuration, formatTime } from '../../format/times';
import { Badge, Credits, Time } from '../../ui';
import { JobMedia, type Job } from './job-file';
import { durationOf, hasFiles, isOpen, isRefunded, stateOf } from './job-state';

/** A job in the gallery: its first file, or its progress. */
export function JobCard({ job, onOpen }: { job: Job; onOpen: () => void }): ReactNode {
  return (
    <li className="card job-card">
      <div className="job-preview">
        <JobPreview job={job} />
      </div>
      <div className="job-text">
        <div className="row row-apart">
          <button
            type="button"
            className="row-button job-model"
            // The model alone is ambiguous.
            aria-label={`${job.model}, ${stateOf(job).label}, ${formatTime(timeOf(job.created_at))}`}
            onClick={onOpen}
          >
            {job.model}
          </button>
          <JobBadge job={job} />
        </div>
        <div className="row row-apart">
          <small className="muted">
            <Time at={timeOf(job.created_at)} />
          </small>
          <small>
            <JobCost job={job} />
          </small>
        </div>
      </div>
    </li>
  );
}

export function JobBadge({ job }: { job: Job }): ReactNode {
  const { label, tone } = stateOf(job);
  return <Badge tone={tone}>{label}</Badge>;
}

/** The reservation of an open job, or the charge. */
export function JobCost({ job }: { job: Job }): ReactNode {
  if (isOpen(job)) {
    return (
      <>
        reserved <Credits value={job.reserved_credits} />
      </>
    );
  }
  if (isRefunded(job)) return 'refunded';
  return job.actual_cost === 0 ? 'no charge' : <Credits value={job.actual_cost} />;
}

function JobPreview({ job }: { job: Job }): ReactNode {
  const files = job.result?.data ?? [];
  const [first] = files;
  if (isOpen(job)) return <JobProgress job={job} />;
  if (job.status === 'failed') {
    return <p className="job-none">{job.error?.message ?? 'The job failed.'}</p>;
  }
  if (first === undefined || !hasFiles(job, Date.now())) {
    return <p className="job-none muted">{whyNothing(job)}</p>;
  }
  return (
    <>
      <JobMedia file={first} label={`Made by ${job.model}`} />
      {files.length > 1 && <span className="job-more">{files.length} files</span>}
    </>
  );
}

/** Indeterminate, since vendors report no percentage. */
export function JobProgress({ job }: { job: Job }): ReactNode {
  const words = job.status === 'queued' ? 'Queued' : 'Processing';
  return (
    <div className="job-progress">
      <progress aria-label={words} />
      <small className="muted">
        {words} for {formatDuration(durationOf(job, Date.now()))}
      </small>
    </div>
  );
}

/** Explains why an ended job shows no files. */
export function whyNothing(job: Job): string {
  if (isRefunded(job)) return 'Expired before it was downloaded. The charge was refunded.';
  if (job.status === 'succeeded') return 'The files have expired.';
  if (job.status === 'expired') return 'Timed out. Nothing was charged.';
  return 'Cancelled. Nothing was charged.';
}

/** Converts Unix seconds to ISO 8601. */
export function timeOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}
