import { useQuery } from '@tanstack/react-query';
import { useMemo, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import { RANGE_OPTIONS } from '../../parts/ranges';
import { useFilters } from '../../shell/use-filters';
import {
  Button,
  FilterSelect,
  EmptyState,
  MoreButton,
  Page,
  QueryState,
  FilterInput,
  type Option,
} from '../../ui';
import { JobCard } from './job-card';
import { JobDrawer } from './job-drawer';
import { JOB_FILTERS, JOB_KINDS, JOB_STATUSES, toJobQuery, type JobFilters } from './job-filters';
import { isOpen } from './job-state';
import './jobs.css';

const PAGE_SIZE = 24;
/** All loaded pages are refetched, so the interval grows with their number. */
const BUSY_MS = 3_000;
const IDLE_MS = 20_000;

/** The tenant's image, video and speech jobs. */
export function JobsPage(): ReactNode {
  const [filters, setFilters] = useFilters(JOB_FILTERS);
  const [{ open }, setView] = useFilters(['open']);
  return (
    <Page
      title="Jobs"
      description="Image, video and long speech jobs. Files are stored for a limited time."
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
  // Fixes the start of a relative range, so that pages of one list do not shift.
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
          <EmptyState title={isFiltered ? 'No matching jobs' : 'No jobs yet'}>
            {isFiltered
              ? 'Change or clear the filters.'
              : 'Image, video and speech jobs appear here. Create one with POST /v1/jobs.'}
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

const JOB_OUTPUTS: readonly string[] = JOB_KINDS;

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
    <FilterSelect
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
      <FilterInput
        label="Model"
        value={filters.model ?? ''}
        suggestions={(models.data?.data ?? [])
          .filter(({ architecture }) =>
            architecture?.output_modalities.some((each) => JOB_OUTPUTS.includes(each)),
          )
          .map(({ id }) => id)}
        onChange={(model) => onChange({ model })}
      />
      {choice('range', 'Time range', RANGE_OPTIONS)}
      {Object.keys(filters).length > 0 && (
        <Button onClick={() => onChange(Object.fromEntries(JOB_FILTERS.map((name) => [name, ''])))}>
          Clear filters
        </Button>
      )}
    </div>
  );
}
