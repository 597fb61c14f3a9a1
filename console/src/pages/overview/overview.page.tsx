import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, unwrap } from '../../api/client';
import { formatCompact, formatCount, formatShare, formatUsd } from '../../format/credits';
import { daysAgo } from '../../format/times';
import { useFilters } from '../../shell/use-filters';
import {
  ButtonLink,
  Card,
  Chart,
  Credits,
  Duration,
  EmptyState,
  Field,
  Page,
  QueryState,
  Select,
  Stat,
  Stats,
} from '../../ui';
import { paceOf } from './pace';
import { daySeries, stackedDays, type DayGroup } from './series';
import { TopGroups } from './top-groups';

const RANGES = ['7', '30', '90'];
const DEFAULT_RANGE = '30';
const SPLITS: readonly { by: string; label: string }[] = [
  { by: 'model', label: 'Model' },
  { by: 'provider', label: 'Provider' },
  { by: 'api_key', label: 'Key' },
  { by: 'end_user', label: 'End user' },
  { by: 'tag:team', label: 'Tag team' },
  { by: 'tag:feature', label: 'Tag feature' },
];
/** More lines than these can not be told apart. */
const CHART_GROUPS = 6;

/** What the tenant has, and what it has spent it on. */
export function OverviewPage(): ReactNode {
  const [{ days = DEFAULT_RANGE, by = 'model' }, setFilters] = useFilters(['days', 'by']);
  const range = RANGES.includes(days) ? days : DEFAULT_RANGE;
  const start_date = daysAgo(Number(range) - 1);
  const split = SPLITS.find((entry) => entry.by === by)?.label ?? by;
  const byDay = useAnalytics({ start_date, group_by: 'day', limit: 100 });
  const byGroup = useAnalytics({ start_date, group_by: by, limit: 10 });
  return (
    <Page
      title="Overview"
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
              {SPLITS.map((split) => (
                <option key={split.by} value={split.by}>
                  {split.label}
                </option>
              ))}
            </Select>
          </Field>
        </>
      }
    >
      <BalanceStats />
      <QueryState
        query={byDay}
        isEmpty={({ total }) => total.requests === 0}
        empty={
          <EmptyState title={`No requests in the last ${range} days`}>
            <ButtonLink variant="primary" to="/welcome">
              Make the first one
            </ButtonLink>
          </EmptyState>
        }
      >
        {({ data, total }) => (
          <>
            <UsageStats days={range} total={total} />
            <DayCharts start={start_date} data={data} />
          </>
        )}
      </QueryState>
      <Card title={`By ${split.toLowerCase()}`}>
        <QueryState query={byGroup}>
          {({ data, group_count }) => (
            <TopGroups
              by={by}
              label={split}
              groups={data}
              groupCount={group_count}
              start={start_date}
            />
          )}
        </QueryState>
      </Card>
      <SplitChart start={start_date} by={by} groups={byGroup.data?.data} />
    </Page>
  );
}

interface AnalyticsQuery {
  start_date: string;
  group_by: string;
  limit: number;
}

function useAnalytics(query: AnalyticsQuery, enabled = true) {
  return useQuery({
    queryKey: ['analytics', query],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/v1/customer/analytics', { params: { query }, signal })),
    placeholderData: (before) => before,
    enabled,
  });
}

/** Balance and pace come from the account and the last seven days, whatever range the page shows. */
function BalanceStats(): ReactNode {
  const credits = useQuery({
    queryKey: ['credits'],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/customer/credits', { signal })),
    refetchInterval: 15_000,
  });
  const week = useAnalytics({ start_date: daysAgo(7), group_by: 'day', limit: 10 });
  return (
    <QueryState query={credits}>
      {(account) => {
        const pace = paceOf(account.balance.available, week.data?.data ?? [], new Date());
        return (
          <Stats>
            <Stat
              id="balance"
              label="Available"
              value={<Credits value={account.balance.available} />}
            />
            <Stat
              id="held"
              label="Held by running requests"
              value={<Credits value={account.balance.held} />}
            />
            <Stat
              label="Spent a day"
              value={<Credits value={pace?.perDay} />}
              hint="average of the last 7 whole days"
            />
            <Stat
              label="Lasts"
              value={
                pace === undefined ? (
                  '–'
                ) : pace.endsAt === null ? (
                  'no end in sight'
                ) : (
                  <Duration ms={pace.lastsMs} />
                )
              }
              hint={
                pace?.endsAt
                  ? `at this pace, until ${pace.endsAt.toLocaleDateString()}`
                  : 'at this pace'
              }
            />
          </Stats>
        );
      }}
    </QueryState>
  );
}

function UsageStats({ days, total }: { days: string; total: DayGroup['sums'] }): ReactNode {
  return (
    <Stats>
      <Stat id="spend" label={`Spend, ${days} days`} value={<Credits value={total.cost} />} />
      <Stat id="requests" label="Requests" value={formatCount(total.requests)} />
      <Stat
        id="errors"
        label="Errors"
        value={formatCount(total.errors)}
        hint={formatShare(total.error_rate)}
      />
      <Stat id="tokens" label="Tokens" value={formatCount(total.tokens.total)} />
      <Stat label="Time, on average" value={<Duration ms={total.latency_avg} />} />
    </Stats>
  );
}

function DayCharts({
  start,
  data,
}: {
  start: string;
  data: Parameters<typeof daySeries>[1];
}): ReactNode {
  const { times, rows } = daySeries(start, data, new Date());
  return (
    <div className="columns">
      <Card title="Spend a day">
        <Chart
          title="Spend a day"
          times={times}
          series={[{ label: 'Spend', values: rows.map((row) => row?.cost ?? 0) }]}
          format={formatUsd}
        />
      </Card>
      <Card title="Requests a day">
        <Chart
          title="Requests a day"
          times={times}
          series={[
            { label: 'Requests', values: rows.map((row) => row?.requests ?? 0) },
            { label: 'Errors', values: rows.map((row) => row?.errors ?? 0) },
          ]}
          format={formatCompact}
        />
      </Card>
      <Card title="Latency">
        <Chart
          title="Latency by day"
          times={times}
          series={[
            { label: 'p50', values: rows.map((row) => row?.latency_p50 ?? null) },
            { label: 'p95', values: rows.map((row) => row?.latency_p95 ?? null) },
          ]}
          format={(ms) => `${(ms / 1_000).toFixed(1)} s`}
        />
      </Card>
      <Card title="Tokens a day">
        <Chart
          title="Tokens a day"
          times={times}
          series={[
            { label: 'Prompt', values: rows.map((row) => row?.tokens.prompt ?? 0) },
            { label: 'Completion', values: rows.map((row) => row?.tokens.completion ?? 0) },
          ]}
          format={formatCompact}
          stacked
        />
      </Card>
    </div>
  );
}

function SplitChart({
  start,
  by,
  groups,
}: {
  start: string;
  by: string;
  groups: readonly { group: string }[] | undefined;
}): ReactNode {
  const names = groups?.slice(0, CHART_GROUPS).map(({ group }) => group) ?? [];
  // Days of the largest groups; each day has at most as many groups as there are, so this is bounded.
  const split = useAnalytics(
    { start_date: start, group_by: `day,${by}`, limit: 1_000 },
    names.length > 1,
  );
  if (names.length < 2) return null;
  return (
    <Card title="Tokens a day, of the largest">
      <QueryState query={split}>
        {({ data }) => {
          const { times, series } = stackedDays(start, by, names, data, new Date());
          return (
            <Chart
              title="Tokens a day, of the largest"
              times={times}
              series={series}
              format={formatCompact}
              stacked
            />
          );
        }}
      </QueryState>
    </Card>
  );
}
