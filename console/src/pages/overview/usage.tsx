import { useMemo, type ReactNode } from 'react';
import { formatCompact, formatCount, formatShare, formatUsd } from '../../format/credits';
import { formatDuration } from '../../format/times';
import { ChartCard, Credits, Stat, Stats } from '../../ui';
import type { Group, Sums } from './analytics';
import { daySeries } from './series';

/** Totals over the selected time range. */
export function UsageStats({ days, total }: { days: string; total: Sums }): ReactNode {
  const { latency_p50: p50, latency_p95: p95 } = total;
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
      <Stat
        id="tokens"
        label="Tokens"
        value={formatCount(total.tokens.total)}
        hint={`${formatCompact(total.tokens.prompt)} in, ${formatCompact(total.tokens.completion)} out`}
      />
      <Stat
        id="latency"
        label="Latency, p50 / p95"
        value={
          p50 === null || p95 === null ? '–' : `${formatDuration(p50)} / ${formatDuration(p95)}`
        }
        hint="from the request to the end of the answer"
      />
    </Stats>
  );
}

export function DayCharts({ start, data }: { start: string; data: readonly Group[] }): ReactNode {
  const charts = useMemo(() => {
    const { times, rows } = daySeries(start, data, new Date());
    const sums = (of: (row: Group) => number) => rows.map((row) => (row ? of(row) : 0));
    return {
      times,
      spend: [{ label: 'Spend', values: sums(({ cost }) => cost) }],
      requests: [
        { label: 'Requests', values: sums(({ requests }) => requests) },
        { label: 'Errors', values: sums(({ errors }) => errors) },
      ],
      latency: [
        { label: 'p50', values: rows.map((row) => row?.latency_p50 ?? null) },
        { label: 'p95', values: rows.map((row) => row?.latency_p95 ?? null) },
      ],
      tokens: [
        { label: 'Prompt', values: sums(({ tokens }) => tokens.prompt) },
        { label: 'Completion', values: sums(({ tokens }) => tokens.completion) },
      ],
    };
  }, [start, data]);
  const { times } = charts;
  return (
    <div className="columns">
      <ChartCard title="Spend per day" times={times} series={charts.spend} format={formatUsd} />
      <ChartCard
        title="Requests per day"
        times={times}
        series={charts.requests}
        format={formatCompact}
      />
      <ChartCard
        title="Latency per day"
        times={times}
        series={charts.latency}
        format={formatDuration}
      />
      <ChartCard
        title="Tokens per day"
        times={times}
        series={charts.tokens}
        format={formatCompact}
        stacked
      />
    </div>
  );
}
