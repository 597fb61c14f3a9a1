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

/** All that is known of one job. */
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
  const [isAsking, setIsAsking] = useState(false);
  const cancel = useChange(
    () => api.DELETE('/v1/customer/jobs/{id}', { params: { path: { id: job.id } } }),
    ['jobs', 'job'],
    () => toast('The job is cancelled'),
  );
  return (
    <>
      <JobProgress job={job} />
      {can('develop') && (
        <div className="row">
          <Button variant="danger" onClick={() => setIsAsking(true)}>
            Cancel the job
          </Button>
        </div>
      )}
      {isAsking && (
        <ConfirmDialog
          title="Cancel the job?"
          text={
            <p>
              What the vendor has done so far is lost. <Credits value={job.reserved_credits} /> that
              are held for it are given back.
            </p>
          }
          action="Cancel the job"
          danger
          onClose={() => setIsAsking(false)}
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
    <Card title={files.length === 1 ? 'What it made' : `What it made: ${files.length} files`}>
      {files.map((file, index) => (
        <div key={index} className="stack">
          <JobMedia file={file} label={`File ${index + 1}, made by ${job.model}`} />
          <JobDownload file={file} name={`${job.id}-${index + 1}`} />
        </div>
      ))}
      <small className="muted">
        Kept until <Time at={timeOf(job.expires_at ?? 0)} />. What is shown or downloaded counts as
        fetched and keeps its charge; else it is given back then.
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
        ['Taken in', <Time at={timeOf(job.created_at)} />],
        ...(job.completed_at === null
          ? []
          : [['Ended', <Time at={timeOf(job.completed_at)} />] as const]),
        [isOpen(job) ? 'So far' : 'Took', formatDuration(durationOf(job, Date.now()))],
        ...(job.deadline_at === null
          ? []
          : [['Given up at', <Time at={timeOf(job.deadline_at)} />] as const]),
        ...(job.error ? [['Failure', job.error.code] as const] : []),
        ['Held', <Credits value={job.reserved_credits} />],
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

/** What the log and the ledger have of it, once there is something. */
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
          Open its request
        </ButtonLink>
      </div>
    </>
  );
}

function sentence(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
