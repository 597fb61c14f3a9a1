import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import type { components } from '../../api/schema';
import { formatShare } from '../../format/credits';
import { formatDuration, formatRate } from '../../format/times';
import { useSession } from '../../session/session';
import { useFilters } from '../../shell/use-filters';
import {
  Badge,
  Button,
  Card,
  FilterSelect,
  EmptyState,
  MoreButton,
  PagedTable,
  SearchField,
  Spread,
  Time,
  type Column,
  type Tone,
} from '../../ui';
import { PauseDialog, ResumeDialog, type PausableName } from './pause-dialog';
import { PausedNow } from './paused-now';

type Route = components['schemas']['OperatedRoute'];

const TONE_OF_STATE: Record<Route['state'], Tone> = {
  healthy: 'good',
  cooling: 'warn',
  open: 'bad',
};

/** The routes of the catalogue with health, speed and pauses. */
export function RouteTable(): ReactNode {
  const { can } = useSession();
  const [filters, setFilters] = useFilters(['model', 'provider']);
  const [paused, setPaused] = useState<PausableName>();
  const [resumed, setResumed] = useState<PausableName>();
  const query = {
    ...(filters.model && { model: filters.model }),
    ...(filters.provider && { provider: filters.provider }),
  };
  const routes = useCursorList(
    ['admin', 'routes', 'list', query],
    (page, signal) =>
      api.GET('/v1/admin/routes', { params: { query: { ...query, ...page } }, signal }),
    { refetchInterval: 10_000 },
  );
  const providers = useProviderIds();
  const columns: Column<Route>[] = [
    {
      header: 'Model',
      cell: ({ model, position }) => (
        <>
          {model} <span className="muted">#{position + 1}</span>
        </>
      ),
    },
    {
      header: 'Provider',
      cell: ({ provider, is_configured }) => (
        <>
          {provider} {!is_configured && <Badge tone="neutral">no account</Badge>}
        </>
      ),
    },
    { header: 'State', cell: ({ state }) => <Badge tone={TONE_OF_STATE[state]}>{state}</Badge> },
    {
      header: 'First token',
      align: 'end',
      wide: true,
      cell: ({ latency }) => <Spread of={latency} format={formatDuration} />,
    },
    {
      header: 'Tokens/s',
      align: 'end',
      wide: true,
      cell: ({ throughput }) => <Spread of={throughput} format={formatRate} />,
    },
    {
      header: 'Cache hits',
      align: 'end',
      wide: true,
      cell: ({ cache_hit_rate: share }) => (share === null ? '–' : formatShare(share)),
    },
    {
      header: 'Unhealthy on',
      wide: true,
      cell: ({ instances }) =>
        instances.length === 0
          ? '–'
          : instances.map(({ instance_id, state }) => (
              <div key={`${instance_id} ${state}`}>
                <span className="mono">{instance_id.slice(0, 8)}</span> {state}
              </div>
            )),
    },
    {
      header: 'Pause',
      cell: ({ pause }) =>
        pause ? (
          <>
            <Badge tone="warn">paused</Badge> {pause.reason}{' '}
            <span className="muted">
              by {pause.paused_by}, <Time at={pause.paused_at} />
              {pause.until !== null && (
                <>
                  , until <Time at={pause.until} />
                </>
              )}
            </span>
          </>
        ) : (
          '–'
        ),
    },
  ];
  if (can('operator:write')) {
    columns.push({
      header: 'Actions',
      cell: ({ model, provider, pause }) =>
        pause ? (
          <Button
            aria-label={`Resume ${pause.model ?? 'all routes'} at ${pause.provider}`}
            onClick={() => setResumed(pause)}
          >
            Resume
          </Button>
        ) : (
          <Button
            variant="quiet"
            aria-label={`Pause ${model} at ${provider}`}
            onClick={() => setPaused({ provider, model })}
          >
            Pause
          </Button>
        ),
    });
  }
  return (
    <>
      <PausedNow onResume={can('operator:write') ? setResumed : undefined} />
      <div className="filters">
        <SearchField
          label="Model"
          value={filters.model ?? ''}
          placeholder="Part of a name"
          onSearch={(model) => setFilters({ model })}
        />
        <FilterSelect
          label="Provider"
          any="All"
          value={filters.provider ?? ''}
          options={providers}
          onChange={(provider) => setFilters({ provider })}
        />
      </div>
      <Card>
        <PagedTable
          query={routes}
          caption="Routes"
          columns={columns}
          rowKey={({ model, position }) => `${model} ${position}`}
          empty={
            <EmptyState title="No matching routes">
              <span>Change or clear the filters.</span>
            </EmptyState>
          }
        />
      </Card>
      <MoreButton query={routes} />
      {paused && <PauseDialog name={paused} onClose={() => setPaused(undefined)} />}
      {resumed && <ResumeDialog name={resumed} onClose={() => setResumed(undefined)} />}
    </>
  );
}

/** Returns the ids of providers with an account. */
function useProviderIds(): string[] {
  const { data } = useQuery({
    queryKey: ['admin', 'config'],
    queryFn: ({ signal }) => api.GET('/v1/admin/config', { signal }),
    staleTime: 60_000,
  });
  return data?.providers.map(({ id }) => id).sort() ?? [];
}
