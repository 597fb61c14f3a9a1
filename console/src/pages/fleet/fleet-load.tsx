import { useQuery } from '@tanstack/react-query';
import { useMemo, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formatCompact } from '../../format/credits';
import { formatDuration } from '../../format/times';
import { useFilters } from '../../shell/use-filters';
import { Card, Chart, EmptyState, QueryState, Select } from '../../ui';
import { hourSeries } from './recent';

const RANGES: Record<string, string> = {
  '24': 'Last 24 hours',
  '72': 'Last 3 days',
  '168': 'Last 7 days',
};
const HOUR_MS = 3_600_000;

/** Requests and latency of all tenants and instances per hour. */
export function FleetLoad(): ReactNode {
  const [{ hours: wanted = '' }, setFilters] = useFilters(['hours']);
  const hours = wanted in RANGES ? wanted : '24';
  const usage = useQuery({
    queryKey: ['admin', 'usage', 'hours', hours],
    queryFn: ({ signal }) => {
      const start = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - (Number(hours) - 1) * HOUR_MS;
      const query = { start_date: new Date(start).toISOString(), group_by: 'hour', limit: 200 };
      return api.GET('/v1/admin/usage', { params: { query }, signal }).then(({ data }) => ({
        start,
        data,
      }));
    },
    refetchInterval: 60_000,
    placeholderData: (before) => before,
  });
  const known = usage.data;
  const charts = useMemo(() => {
    if (!known) return undefined;
    const { times, rows } = hourSeries(known.start, known.data, Date.now());
    return {
      times,
      requests: [
        { label: 'Requests', values: rows.map((row) => row?.requests ?? 0) },
        { label: 'Errors', values: rows.map((row) => row?.errors ?? 0) },
      ],
      latency: [{ label: 'Average', values: rows.map((row) => row?.latency_avg ?? null) }],
    };
  }, [known]);
  const range = (
    <Select
      aria-label="Time range"
      value={hours}
      options={Object.entries(RANGES)}
      onChange={(chosen) => setFilters({ hours: chosen })}
    />
  );
  const chart = (title: string, of: 'requests' | 'latency', format: (value: number) => string) => (
    <QueryState
      query={usage}
      isEmpty={({ data }) => data.length === 0}
      empty={<EmptyState title="No requests in this time range" />}
    >
      {() =>
        charts && <Chart title={title} times={charts.times} series={charts[of]} format={format} />
      }
    </QueryState>
  );
  return (
    <div className="columns">
      <Card title="Requests per hour" actions={range}>
        {chart('Requests per hour', 'requests', formatCompact)}
      </Card>
      <Card title="Latency per hour">{chart('Latency per hour', 'latency', formatDuration)}</Card>
    </div>
  );
}
