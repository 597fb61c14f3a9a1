import { useQuery } from '@tanstack/react-query';
import { useMemo, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import { RANGE_OPTIONS } from '../../parts/ranges';
import { useFilters } from '../../shell/use-filters';
import {
  Button,
  Choice,
  EmptyState,
  MoreButton,
  Page,
  QueryState,
  Typed,
  type Option,
} from '../../ui';
import { JobCard } from './job-card';
import { JobDrawer } from './job-drawer';
import { JOB_FILTERS, JOB_KINDS, JOB_STATUSES, toJobQuery, type JobFilters } from './job-filters';
import { isOpen } from './job-state';
import './jobs.css';

const PAGE_SIZE = 24;
/** Every page that is shown is read again, so long lists are looked at less often. */
const BUSY_MS = 3_000;
const IDLE_MS = 20_000;

/** Pictures, films and speech that the tenant had made. */
export function JobsPage(): ReactNode {
  const [filters, setFilters] = useFilters(JOB_FILTERS);
  const [{ open }, setView] = useFilters(['open']);
  return (
    <Page
      title="Jobs"
      description="Images, videos and long speech, and what became of them. Files are kept for a while only."
    >
      <Filters filters={filters} onChange={setFilters} />
      <Gallery filters={filters} onOpen={(id) => setView({ open: id })} />
      {open !== undefined && <JobDrawer id={open} onClose={() => setView({ open: '' })} />}
    </Page>
  );
}

function Gallery({
  filters,
  onOpen,
}: {
  filters: JobFilters;
  onOpen: (id: string) => void;
}): ReactNode {
  // A range goes on from when it was chosen; pages of one list must not slide.
  const query = useMemo(() => toJobQuery(filters, new Date()), [filters]);
  const list = useCursorList(
    ['jobs', filters],
    (page, signal) =>
      api.GET('/v1/customer/jobs/gallery', {
        params: { query: { ...query, limit: PAGE_SIZE, ...page } },
        signal,
      }),
    {
      refetchInterval: ({ state: { data } }) => {
        const pages = data?.pages ?? [];
        const isBusy = pages.some((page) => page.data.some(isOpen));
        return (isBusy ? BUSY_MS : IDLE_MS) * Math.max(1, pages.length);
      },
    },
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <QueryState query={list}>
      {({ pages }) => {
        const jobs = pages.flatMap(({ data }) => data);
        return jobs.length === 0 && !list.hasNextPage ? (
          <EmptyState title={isFiltered ? 'No job matches' : 'No jobs yet'}>
            {isFiltered
              ? 'Change the filters, or clear them.'
              : 'Send one to POST /v1/jobs with an image, video or speech model. It appears here at once.'}
          </EmptyState>
        ) : (
          <>
            <ul className="job-gallery" aria-label="Jobs, newest first">
              {jobs.map((job) => (
                <JobCard key={job.id} job={job} onOpen={() => onOpen(job.id)} />
              ))}
            </ul>
            <MoreButton query={list} />
          </>
        );
      }}
    </QueryState>
  );
}

const MADE_BY_JOBS: readonly string[] = JOB_KINDS;

function Filters({
  filters,
  onChange,
}: {
  filters: JobFilters;
  onChange: (changes: JobFilters) => void;
}): ReactNode {
  const models = useQuery({
    queryKey: ['job-models'],
    queryFn: ({ signal }) => api.GET('/v1/models', { signal }),
    staleTime: 60_000,
  });
  const choice = (name: 'kind' | 'status' | 'range', label: string, options: readonly Option[]) => (
    <Choice
      label={label}
      value={filters[name] ?? ''}
      options={options}
      onChange={(value) => onChange({ [name]: value })}
    />
  );
  return (
    <div className="filters" role="search" aria-label="Filter jobs">
      {choice('kind', 'Kind', JOB_KINDS)}
      {choice(
        'status',
        'State',
        JOB_STATUSES.map((status) => [status, status.replaceAll('_', ' ')]),
      )}
      <Typed
        label="Model"
        value={filters.model ?? ''}
        suggestions={(models.data?.data ?? [])
          .filter(({ architecture }) =>
            architecture?.output_modalities.some((each) => MADE_BY_JOBS.includes(each)),
          )
          .map(({ id }) => id)}
        onChange={(model) => onChange({ model })}
      />
      {choice('range', 'Time', RANGE_OPTIONS)}
      {Object.keys(filters).length > 0 && (
        <Button onClick={() => onChange(Object.fromEntries(JOB_FILTERS.map((name) => [name, ''])))}>
          Clear filters
        </Button>
      )}
    </div>
  );
}
