import { useMemo, type ReactNode } from 'react';
import { formatCompact, formatUsd } from '../../format/credits';
import { useFilters } from '../../shell/use-filters';
import { Card, Chart, QueryState, Select } from '../../ui';
import { useAnalytics, type Group } from './analytics';
import { stackedDays } from './series';

/** More series would be hard to tell apart. */
const CHART_GROUPS = 6;
/** Maximum groups in a response; with more, days would be missing. */
const MAX_GROUPS = 10_000;

interface Measure {
  label: string;
  of: (group: Group) => number;
  format: (value: number) => string;
}

const MEASURES: Record<string, Measure> = {
  spend: { label: 'Spend', of: ({ cost }) => cost, format: formatUsd },
  requests: { label: 'Requests', of: ({ requests }) => requests, format: formatCompact },
  errors: { label: 'Errors', of: ({ errors }) => errors, format: formatCompact },
  tokens: { label: 'Tokens', of: ({ tokens }) => tokens.total, format: formatCompact },
};

/** A stacked daily chart of the groups with the highest spend. */
export function SplitChart({
  start,
  days,
  by,
  label,
  groups,
  groupCount,
  nameOf,
}: {
  start: string;
  days: number;
  by: string;
  label: string;
  groups: readonly Group[];
  groupCount: number;
  nameOf: (group: string) => string;
}): ReactNode {
  const [{ measure: wanted = '' }, setFilters] = useFilters(['measure']);
  const chosen = wanted in MEASURES ? wanted : 'spend';
  const measure = MEASURES[chosen];
  const names = useMemo(() => groups.slice(0, CHART_GROUPS).map(({ group }) => group), [groups]);
  const isDrawn = names.length > 1 && groupCount * days <= MAX_GROUPS;
  const split = useAnalytics(
    { start_date: start, group_by: `day,${by}`, limit: MAX_GROUPS },
    isDrawn,
  );
  const found = split.data?.data;
  const chart = useMemo(
    () => found && measure && stackedDays(start, by, names, found, measure.of, new Date()),
    [start, by, names, found, measure],
  );
  if (!isDrawn || !measure) return null;
  const title = `${measure.label} per day by ${label.toLowerCase()}`;
  return (
    <Card
      title={title}
      actions={
        <Select
          aria-label="Measure"
          value={chosen}
          options={Object.entries(MEASURES).map(([id, { label: name }]) => [id, name])}
          onChange={(id) => setFilters({ measure: id })}
        />
      }
    >
      <QueryState query={split}>
        {() =>
          chart && (
            <Chart
              title={title}
              times={chart.times}
              series={chart.series.map(({ label: group, values }) => ({
                label: nameOf(group),
                values,
              }))}
              format={measure.format}
              stacked
            />
          )
        }
      </QueryState>
      {groupCount > names.length && <p className="muted">Top {names.length} by spend, stacked</p>}
    </Card>
  );
}
