import { useQuery } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { api } from '../../api/client';
import { daysAgo } from '../../format/times';
import { useSession } from '../../session/session';
import { useFilters } from '../../shell/use-filters';
import {
  ButtonLink,
  Card,
  EmptyState,
  Page,
  QueryState,
  SelectField,
  preloadChart,
} from '../../ui';
import { useAnalytics } from './analytics';
import { Balance } from './balance';
import { SplitChart } from './split-chart';
import { TopGroups } from './top-groups';
import { DayCharts, UsageStats } from './usage';

const RANGES = ['7', '30', '90'];
const DEFAULT_RANGE = '30';
const SPLITS: readonly (readonly [by: string, label: string])[] = [
  ['model', 'Model'],
  ['provider', 'Provider'],
  ['api_key', 'API key'],
  ['end_user', 'End user'],
];

/** The tenant's balance and usage. */
export function OverviewPage(): ReactNode {
  const [{ days = DEFAULT_RANGE, by = 'model' }, setFilters] = useFilters(['days', 'by']);
  const { tags, nameOf } = useFacets(by);
  const labels = new Map([...SPLITS, ...tags.map((key) => [`tag:${key}`, `Tag ${key}`] as const)]);
  const range = RANGES.includes(days) ? days : DEFAULT_RANGE;
  const start = daysAgo(Number(range) - 1);
  const label = labels.get(by) ?? by;
  const byDay = useAnalytics({ start_date: start, group_by: 'day', limit: 100 });
  const byGroup = useAnalytics({ start_date: start, group_by: by, limit: 10 });
  useEffect(preloadChart, []);
  const isUnused = byDay.data?.total.requests === 0;
  return (
    <Page
      title="Overview"
      actions={
        <>
          <SelectField
            label="Time range"
            value={range}
            options={RANGES.map((count) => [count, `Last ${count} days`])}
            onChange={(chosen) => setFilters({ days: chosen })}
          />
          <SelectField
            label="Group by"
            value={by}
            options={[...(labels.has(by) ? [] : [by]), ...labels]}
            onChange={(chosen) => setFilters({ by: chosen })}
          />
        </>
      }
    >
      <Balance days={Number(range)} />
      <QueryState query={byDay} isEmpty={() => isUnused} empty={<Unused range={range} />}>
        {({ data, total }) => (
          <>
            <UsageStats days={range} total={total} />
            <DayCharts start={start} data={data} />
          </>
        )}
      </QueryState>
      {!isUnused && (
        <>
          <Card title={`Usage by ${label.toLowerCase()}`}>
            <QueryState query={byGroup}>
              {({ data, group_count }) => (
                <TopGroups
                  by={by}
                  label={label}
                  groups={data}
                  groupCount={group_count}
                  start={start}
                  nameOf={nameOf}
                />
              )}
            </QueryState>
          </Card>
          {byGroup.data && (
            <SplitChart
              start={start}
              days={Number(range)}
              by={by}
              label={label}
              groups={byGroup.data.data}
              groupCount={byGroup.data.group_count}
              nameOf={nameOf}
            />
          )}
        </>
      )}
    </Page>
  );
}

function Unused({ range }: { range: string }): ReactNode {
  const { can } = useSession();
  return (
    <Card>
      <EmptyState title={`No requests in the last ${range} days`}>
        <span>
          Spend, latency and tokens appear here once your first request has ended. Follow the steps
          to send one.
        </span>
        {can('develop') && (
          <ButtonLink variant="primary" to="/welcome">
            Get started
          </ButtonLink>
        )}
      </EmptyState>
    </Card>
  );
}

/** Returns the known tags and a function that names keys, for roles that may read the log. */
function useFacets(by: string): { tags: string[]; nameOf: (group: string) => string } {
  const { can } = useSession();
  const { data } = useQuery({
    queryKey: ['log-facets'],
    queryFn: ({ signal }) => api.GET('/v1/customer/logs/facets', { signal }),
    staleTime: 60_000,
    enabled: can('read'),
  });
  const keys = new Map(data?.api_keys.map(({ id, name }) => [id, name]));
  return {
    tags: data?.tags.map(({ key }) => key) ?? [],
    nameOf: (group) => {
      if (group === '') return '(none)';
      return (by === 'api_key' && keys.get(group)) || group;
    },
  };
}
