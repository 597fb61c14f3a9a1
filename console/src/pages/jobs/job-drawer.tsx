import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/changes';
import { api } from '../../api/client';
import { formatDuration } from '../../format/times';
import { ContentCard, useContent } from '../../requests/content-card';
import { ReceiptArithmetic, useReceipt } from '../../requests/receipt';
import { useSession } from '../../session/session';
import {
  Button,
  ButtonLink,
  Card,
  ConfirmDialog,
  Credits,
  Drawer,
  Facts,
  Notice,
  QueryState,
  Time,
  toast,
} from '../../ui';
import { JobBadge, JobProgress, timeOf, whyNothing } from './job-card';
import { JobDownload, JobMedia, type Job } from './job-file';
import { durationOf, hasFiles, isOpen, isRefunded } from './job-state';

const POLL_MS = 2_000;

/** All details of a job. */
export function JobDrawer({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const query = useQuery({
    queryKey: ['job', id],
    queryFn: ({ signal }) =>
      api.GET('/v1/customer/jobs/{id}', { params: { path: { id } }, signal }),
    refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? POLL_MS : false),
  });
  return (
    <Drawer title="Job" onClose={onClose}>
      <QueryState query={query}>
        {(job) => (
          <div className="stack">
            <div className="row">
              <JobBadge job={job} />
              <strong>{job.model}</strong>
              {job.provider !== null && <span className="muted">{job.provider}</span>}
            </div>
            {job.error && <Notice tone="bad">{job.error.message}</Notice>}
            {isOpen(job) ? <Open job={job} /> : <Files job={job} />}
            <About job={job} />
            {!isOpen(job) && <Ended job={job} />}
          </div>
        )}
      </QueryState>
    </Drawer>
  );
}

function Open({ job }: { job: Job }): ReactNode {
  const { can } = useSession();
  const [isConfirming, setIsConfirming] = useState(false);
  const cancel = useChange(
    () => api.DELETE('/v1/customer/jobs/{id}', { params: { path: { id: job.id } } }),
    ['jobs', 'job'],
    () => toast('Job cancelled.'),
  );
  return (
    <>
      <JobProgress job={job} />
      {can('develop') && (
        <div className="row">
          <Button variant="danger" onClick={() => setIsConfirming(true)}>
            Cancel job
          </Button>
        </div>
      )}
      {isConfirming && (
        <ConfirmDialog
          title="Cancel this job?"
          text={
            <p>
              The vendor’s work so far is lost. The reserved{' '}
              <Credits value={job.reserved_credits} /> are released.
            </p>
          }
          action="Cancel job"
          danger
          onClose={() => setIsConfirming(false)}
          onConfirm={() => cancel.mutateAsync()}
        />
      )}
    </>
  );
}

function Files({ job }: { job: Job }): ReactNode {
  const files = job.result?.data ?? [];
  if (!hasFiles(job, Date.now()) || files.length === 0) {
    return job.status === 'failed' ? null : <p className="muted">{whyNothing(job)}</p>;
  }
  return (
    <Card title={files.length === 1 ? 'Result' : `Result: ${files.length} files`}>
      {files.map((file, index) => (
        <div key={index} className="stack">
          <JobMedia file={file} label={`File ${index + 1}, made by ${job.model}`} />
          <JobDownload file={file} name={`${job.id}-${index + 1}`} />
        </div>
      ))}
      <small className="muted">
        Stored until <Time at={timeOf(job.expires_at ?? 0)} />. Viewing or downloading a file keeps
        the charge; otherwise it is refunded then.
      </small>
    </Card>
  );
}

function About({ job }: { job: Job }): ReactNode {
  const usage = Object.entries(job.usage ?? {}).filter(([, value]) => typeof value === 'number');
  return (
    <Facts
      facts={[
        ['Job', <span className="mono">{job.id}</span>],
        ['Created', <Time at={timeOf(job.created_at)} />],
        ...(job.completed_at === null
          ? []
          : [['Ended', <Time at={timeOf(job.completed_at)} />] as const]),
        [isOpen(job) ? 'Running for' : 'Duration', formatDuration(durationOf(job, Date.now()))],
        ...(job.deadline_at === null
          ? []
          : [['Deadline', <Time at={timeOf(job.deadline_at)} />] as const]),
        ...(job.error ? [['Error', job.error.code] as const] : []),
        ['Reserved', <Credits value={job.reserved_credits} />],
        ...(isOpen(job)
          ? []
          : [
              [
                'Charged',
                isRefunded(job) ? 'refunded, see below' : <Credits value={job.actual_cost} />,
              ] as const,
            ]),
        ...usage.map(
          ([name, value]) => [sentence(name), Number(value).toLocaleString('en-US')] as const,
        ),
        ...Object.entries(job.metadata ?? {}),
      ]}
    />
  );
}

/** Cost and stored content of an ended job. */
function Ended({ job }: { job: Job }): ReactNode {
  const content = useContent(job.request_id);
  const isPriced = job.status === 'succeeded' || isRefunded(job);
  const receipt = useReceipt(job.request_id, { enabled: isPriced });
  return (
    <>
      {isPriced && (
        <Card title="Cost">
          <QueryState query={receipt}>
            {(signed) => <ReceiptArithmetic receipt={signed.receipt} />}
          </QueryState>
        </Card>
      )}
      <ContentCard content={content} />
      <div className="row row-end">
        <ButtonLink to="/requests/$requestId" params={{ requestId: job.request_id }}>
          Open request
        </ButtonLink>
      </div>
    </>
  );
}

function sentence(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
