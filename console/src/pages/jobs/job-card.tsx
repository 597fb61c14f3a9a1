import type { ReactNode } from 'react';
import { formatDuration, formatTime } from '../../format/times';
import { Badge, Credits, Time } from '../../ui';
import { JobMedia, type Job } from './job-file';
import { durationOf, hasFiles, isOpen, isRefunded, stateOf } from './job-state';

/** One job of the gallery: what it has made, or how far it is. */
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
            // Many are of the same model.
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

/** What it holds while it is open, else what was charged. */
export function JobCost({ job }: { job: Job }): ReactNode {
  if (isOpen(job)) {
    return (
      <>
        held <Credits value={job.reserved_credits} />
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
    return <p className="job-none">{job.error?.message ?? 'It failed.'}</p>;
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

/** Vendors tell no figures, so the bar has no end. */
export function JobProgress({ job }: { job: Job }): ReactNode {
  const words = job.status === 'queued' ? 'Waits for its turn' : 'The vendor is at work';
  return (
    <div className="job-progress">
      <progress aria-label={words} />
      <small className="muted">
        {words}, for {formatDuration(durationOf(job, Date.now()))} so far
      </small>
    </div>
  );
}

/** Why an ended job has no files to show. */
export function whyNothing(job: Job): string {
  if (isRefunded(job)) return 'Nobody fetched it in time, so its charge was given back.';
  if (job.status === 'succeeded') return 'What it made has expired.';
  if (job.status === 'expired') return 'It was not ready in time. Nothing was charged.';
  return 'It was cancelled. Nothing was charged.';
}

/** Unix seconds as the parts take times. */
export function timeOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}
