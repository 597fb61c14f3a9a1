import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useMemo, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import type { components } from '../../api/schema';
import { formatCount } from '../../format/credits';
import { useSession } from '../../session/session';
import { useFilters } from '../../shell/use-filters';
import {
  Badge,
  Card,
  Chart,
  Checkbox,
  FilterSelect,
  DataTable,
  EmptyState,
  MoreButton,
  QueryState,
  Time,
  type Column,
} from '../../ui';
import type { Guardrail } from './guardrail-form';
import { SPANS, startOf, triggerLines, type Span } from './trigger-series';

type Event = components['schemas']['GuardrailEvent'];

const DEFAULT_SPAN = SPANS[2];

/** Past matches: a chart over time and the matching requests. */
export function Triggers({ guardrails }: { guardrails: readonly Guardrail[] }): ReactNode {
  const { can } = useSession();
  const [{ span: spanId, guardrail, excerpts }, setFilters] = useFilters([
    'span',
    'guardrail',
    'excerpts',
  ]);
  const span = SPANS.find(({ id }) => id === spanId) ?? DEFAULT_SPAN;
  const nameOf = useCallback(
    (id: string) =>
      guardrails.find((each) => each.id === id)?.name ?? `deleted (${id.slice(0, 8)})`,
    [guardrails],
  );
  return (
    <>
      <div className="filters">
        <FilterSelect
          label="Time range"
          value={spanId ?? ''}
          any={DEFAULT_SPAN.label}
          options={SPANS.filter((each) => each !== DEFAULT_SPAN).map(({ id, label }) => [
            id,
            label,
          ])}
          onChange={(value) => setFilters({ span: value })}
        />
        <FilterSelect
          label="Guardrail"
          value={guardrail ?? ''}
          any="All"
          options={guardrails.map(({ id, name }) => [id, name])}
          onChange={(value) => setFilters({ guardrail: value })}
        />
        {can('content') && (
          <Checkbox
            label="Show matched text (audited)"
            checked={excerpts === '1'}
            onChange={(isOn) => setFilters({ excerpts: isOn ? '1' : '' })}
          />
        )}
      </div>
      <TriggerChart span={span} guardrail={guardrail} nameOf={nameOf} />
      <EventList
        guardrail={guardrail}
        nameOf={nameOf}
        hasExcerpts={can('content') && excerpts === '1'}
      />
    </>
  );
}

function TriggerChart({
  span,
  guardrail,
  nameOf,
}: {
  span: Span;
  guardrail: string | undefined;
  nameOf: (id: string) => string;
}): ReactNode {
  const query = useQuery({
    queryKey: ['guardrail-series', span.id, guardrail],
    queryFn: async ({ signal }) => {
      const now = new Date();
      const { data } = await api.GET('/v1/customer/guardrail-events/series', {
        params: {
          query: {
            interval: span.interval,
            start_date: startOf(span, now).toISOString(),
            ...(guardrail === undefined ? {} : { guardrail_id: guardrail }),
          },
        },
        signal,
      });
      return { counts: data, now };
    },
    refetchInterval: 30_000,
  });
  return (
    <Card title={`Matches per ${span.interval}`}>
      <QueryState
        query={query}
        isEmpty={({ counts }) => counts.length === 0}
        empty={
          <EmptyState title="No guardrail violations">
            Matches appear here shortly after the request.
          </EmptyState>
        }
      >
        {({ counts, now }) => <Lines counts={counts} span={span} now={now} nameOf={nameOf} />}
      </QueryState>
    </Card>
  );
}

function Lines({
  counts,
  span,
  now,
  nameOf,
}: {
  counts: Parameters<typeof triggerLines>[0];
  span: Span;
  now: Date;
  nameOf: (id: string) => string;
}): ReactNode {
  // The chart redraws whenever its data changes identity.
  const lines = useMemo(() => triggerLines(counts, span, now, nameOf), [counts, span, now, nameOf]);
  return <Chart title="Guardrail matches" format={formatWhole} {...lines} />;
}

/** Leaves fractional axis ticks blank. */
function formatWhole(count: number): string {
  return Number.isInteger(count) ? formatCount(count) : '';
}

function EventList({
  guardrail,
  nameOf,
  hasExcerpts,
}: {
  guardrail: string | undefined;
  nameOf: (id: string) => string;
  hasExcerpts: boolean;
}): ReactNode {
  const list = useCursorList(['guardrail-events', guardrail, hasExcerpts], (page, signal) =>
    api.GET('/v1/customer/guardrail-events', {
      params: {
        query: {
          ...page,
          ...(guardrail === undefined ? {} : { guardrail_id: guardrail }),
          ...(hasExcerpts && { excerpts: 'true' as const }),
        },
      },
      signal,
    }),
  );
  const columns: Column<Event>[] = [
    { header: 'Time', cell: ({ created_at }) => <Time at={created_at} /> },
    { header: 'Guardrail', cell: ({ guardrail_id }) => nameOf(guardrail_id) },
    { header: 'Action', cell: ({ action }) => <ActionBadge action={action} /> },
    {
      header: 'Direction',
      wide: true,
      cell: ({ direction }) => (direction === 'input' ? 'prompt' : 'answer'),
    },
    {
      header: 'Request',
      cell: ({ request_id }) => (
        <Link to="/requests/$requestId" params={{ requestId: request_id }} className="mono">
          …{request_id.slice(-12)}
        </Link>
      ),
    },
    ...(hasExcerpts
      ? [
          {
            header: 'Matched text',
            cell: ({ excerpt }: Event) =>
              excerpt === null ? <span className="muted">not stored</span> : <q>{excerpt}</q>,
          },
        ]
      : []),
  ];
  return (
    <Card title="Matching requests">
      <QueryState query={list}>
        {({ pages }) => (
          <>
            <DataTable
              caption="Guardrail matches, newest first"
              columns={columns}
              rows={pages.flatMap(({ data }) => data)}
              rowKey={({ id }) => id}
              empty={
                <EmptyState title="No guardrail violations">
                  {guardrail === undefined
                    ? 'Requests that match a guardrail appear here.'
                    : 'Select another guardrail, or all of them.'}
                </EmptyState>
              }
            />
            <MoreButton query={list} />
          </>
        )}
      </QueryState>
    </Card>
  );
}

export function ActionBadge({ action }: { action: Guardrail['action'] }): ReactNode {
  if (action === 'block') return <Badge tone="bad">block</Badge>;
  return <Badge tone={action === 'flag' ? 'warn' : 'neutral'}>{action}</Badge>;
}
