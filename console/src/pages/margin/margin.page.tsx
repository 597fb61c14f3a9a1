import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, unwrap } from '../../api/client';
import type { components } from '../../api/schema';
import { formatCount, formatShare, formatUsd } from '../../format/credits';
import { daysAgo } from '../../format/times';
import { useFilters } from '../../shell/use-filters';
import {
  Card,
  Chart,
  Credits,
  DataTable,
  EmptyState,
  Field,
  Page,
  QueryState,
  Select,
  Stat,
  Stats,
  type Column,
} from '../../ui';

type Group = components['schemas']['MarginGroup'];
type Sums = components['schemas']['MarginSums'];

const RANGES = ['7', '30', '90'];
const SPLITS = { tenant: 'Tenant', provider: 'Provider', model: 'Model', day: 'Day' } as const;
/** As many as a list of tenants has at most. */
const MAX_NAMES = 200;

/** What was charged, what vendors took for it, and what is left. */
export function MarginPage(): ReactNode {
  const [{ days = '30', by: wanted = '' }, setFilters] = useFilters(['days', 'by']);
  const range = RANGES.includes(days) ? days : '30';
  const by = isSplit(wanted) ? wanted : 'provider';
  const start = daysAgo(Number(range) - 1);
  const byDay = useMargin(start, 'day');
  const groups = useMargin(start, by);
  return (
    <Page
      title="Margin"
      description="What requests were charged, and what vendors took for them, whether they succeeded or not. Refunds of jobs are not taken off."
      actions={
        <>
          <Field label="Time">
            <Select value={range} onChange={(event) => setFilters({ days: event.target.value })}>
              {RANGES.map((count) => (
                <option key={count} value={count}>
                  Last {count} days
                </option>
              ))}
            </Select>
          </Field>
          <Field label="By">
            <Select value={by} onChange={(event) => setFilters({ by: event.target.value })}>
              {Object.entries(SPLITS).map(([id, label]) => (
                <option key={id} value={id}>
                  {label}
                </option>
              ))}
            </Select>
          </Field>
        </>
      }
    >
      <QueryState
        query={byDay}
        isEmpty={({ total }) => total.requests === 0}
        empty={
          <EmptyState title={`No requests in the last ${range} days`}>
            <span>Choose a longer time.</span>
          </EmptyState>
        }
      >
        {({ data, total }) => (
          <>
            <Totals total={total} />
            <Card title="Charged, taken and left, by day">
              <Chart
                title="Charged, taken and left, by day"
                times={data.map(({ groups: { day } }) => day ?? '')}
                series={[
                  { label: 'Charged', values: data.map(({ charged }) => charged) },
                  { label: 'Vendors', values: data.map(({ vendor_cost }) => vendor_cost) },
                  { label: 'Margin', values: data.map(({ margin }) => margin) },
                ]}
                format={formatUsd}
              />
            </Card>
          </>
        )}
      </QueryState>
      <Card title={`By ${SPLITS[by].toLowerCase()}`}>
        <QueryState query={groups}>
          {({ data, group_count: count }) => (
            <>
              <GroupTable by={by} rows={data} />
              {count > data.length && (
                <p className="muted">
                  The {data.length} with the most charged of {formatCount(count)}.
                </p>
              )}
            </>
          )}
        </QueryState>
      </Card>
    </Page>
  );
}

function useMargin(start_date: string, group_by: string) {
  return useQuery({
    queryKey: ['admin', 'margin', start_date, group_by],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/v1/admin/margin', {
          params: { query: { start_date, group_by, limit: 100 } },
          signal,
        }),
      ),
    placeholderData: (before, query) => (query?.queryKey[3] === group_by ? before : undefined),
  });
}

function Totals({ total }: { total: Sums }): ReactNode {
  return (
    <Stats>
      <Stat id="charged" label="Charged" value={<Credits value={total.charged} />} />
      <Stat
        id="shortfall"
        label="Shortfall"
        value={<Credits value={total.shortfall} />}
        hint="of it, what nobody pays"
      />
      <Stat id="vendor_cost" label="Vendors took" value={<Credits value={total.vendor_cost} />} />
      <Stat
        id="margin"
        label="Margin"
        value={<Credits value={total.margin} />}
        hint={shareOf(total)}
      />
      <Stat id="requests" label="Requests" value={formatCount(total.requests)} />
    </Stats>
  );
}

function GroupTable({ by, rows }: { by: keyof typeof SPLITS; rows: readonly Group[] }): ReactNode {
  const names = useTenantNames(by === 'tenant');
  const columns: Column<Group>[] = [
    {
      id: 'group',
      header: SPLITS[by],
      cell: ({ groups, is_rest }) => {
        const value = groups[by];
        if (is_rest) return 'the rest';
        if (value == null) return '(none)';
        if (by === 'day') return value.slice(0, 10);
        if (by !== 'tenant') return value;
        return (
          <Link to="/tenants/$tenantId" params={{ tenantId: value }}>
            {names.get(value) ?? value}
          </Link>
        );
      },
    },
    {
      id: 'requests',
      header: 'Requests',
      align: 'end',
      wide: true,
      cell: ({ requests }) => formatCount(requests),
    },
    {
      id: 'charged',
      header: 'Charged',
      align: 'end',
      cell: ({ charged }) => <Credits value={charged} />,
    },
    {
      id: 'shortfall',
      header: 'Shortfall',
      align: 'end',
      wide: true,
      cell: ({ shortfall }) => <Credits value={shortfall} />,
    },
    {
      id: 'vendor',
      header: 'Vendors took',
      align: 'end',
      wide: true,
      cell: ({ vendor_cost }) => <Credits value={vendor_cost} />,
    },
    {
      id: 'margin',
      header: 'Margin',
      align: 'end',
      cell: ({ margin }) => <Credits value={margin} />,
    },
    { id: 'share', header: 'Of the charge', align: 'end', cell: shareOf },
  ];
  return (
    <DataTable
      caption={`Margin by ${SPLITS[by]}`}
      columns={columns}
      rows={rows}
      rowKey={({ groups, is_rest }) => `${groups[by] ?? ''} ${is_rest}`}
      empty={<EmptyState title="No requests in this time" />}
    />
  );
}

/** The names of the tenants that spent the most; of the others their ids are shown. */
function useTenantNames(enabled: boolean): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: ['admin', 'tenants', 'names'],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/v1/admin/tenants', {
          params: { query: { sort: 'spent', order: 'desc', limit: MAX_NAMES } },
          signal,
        }),
      ),
    enabled,
  });
  return new Map(data?.data.map(({ id, name }) => [id, name]));
}

function shareOf({ charged, margin }: Sums): string {
  return charged > 0 ? formatShare(margin / charged) : '–';
}

function isSplit(name: string): name is keyof typeof SPLITS {
  return name in SPLITS;
}
