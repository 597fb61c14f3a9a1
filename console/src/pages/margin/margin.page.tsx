import { useQuery } from '@tanstack/react-query';
import { useMemo, type ReactNode } from 'react';
import { api } from '../../api/client';
import type { components } from '../../api/schema';
import { formatCount, formatShare, formatUsd } from '../../format/credits';
import { daysAgo } from '../../format/times';
import { useFilters } from '../../shell/use-filters';
import {
  Card,
  ChartCard,
  FilterSelect,
  Credits,
  EmptyState,
  Page,
  QueryState,
  SelectField,
  Stat,
  Stats,
  TextField,
} from '../../ui';
import { MarginTable } from './margin-table';
import { chosenRange, DAY_RANGES, rangeOf, type Range } from './range';

type Group = components['schemas']['MarginGroup'];
type Sums = components['schemas']['MarginSums'];

const SPLITS = {
  provider: 'Provider',
  model: 'Model',
  route: 'Route',
  tenant: 'Tenant',
  endpoint: 'Endpoint',
  day: 'Day',
  month: 'Month',
} as const;
type Split = keyof typeof SPLITS;

/** Charges, vendor cost and margin over all tenants. */
export function MarginPage(): ReactNode {
  const [texts, setFilters] = useFilters(['days', 'from', 'to', 'by', 'then']);
  const range = rangeOf(texts);
  const by = texts.by && isSplit(texts.by) ? texts.by : 'provider';
  const then = texts.then && isSplit(texts.then) && texts.then !== by ? texts.then : undefined;
  const dimensions = then ? [by, then] : [by];
  const byDay = useMargin(range, 'day', 400);
  const groups = useMargin(range, dimensions.join(), 200);
  return (
    <Page
      title="Margin"
      description="Charges minus refunds, shortfalls and vendor cost, including the cost of failed requests."
    >
      <Choices by={by} then={then} texts={texts} onChange={setFilters} />
      <QueryState
        query={byDay}
        isEmpty={({ total }) => total.requests === 0}
        empty={
          <Card>
            <EmptyState title={`No requests ${range.text}`}>
              <span>Select a longer time range.</span>
            </EmptyState>
          </Card>
        }
      >
        {({ data, total }) => (
          <>
            <Totals total={total} />
            <DayChart days={data} />
          </>
        )}
      </QueryState>
      <Card
        title={`Margin by ${dimensions.map((name) => SPLITS[name].toLowerCase()).join(' and ')}`}
      >
        <QueryState query={groups}>
          {({ data, group_count: count }) => (
            <>
              <MarginTable
                dimensions={dimensions.map((name) => ({ name, label: SPLITS[name] }))}
                rows={data}
              />
              {count > data.length && (
                <p className="muted">
                  Top {data.length} of {formatCount(count)} by charges
                </p>
              )}
            </>
          )}
        </QueryState>
      </Card>
    </Page>
  );
}

function Choices({
  by,
  then,
  texts,
  onChange,
}: {
  by: Split;
  then: Split | undefined;
  texts: { days?: string; from?: string; to?: string };
  onChange: (changes: Partial<Record<'days' | 'from' | 'to' | 'by' | 'then', string>>) => void;
}): ReactNode {
  const chosen = chosenRange(texts);
  const splits = Object.entries(SPLITS);
  const choose = (value: string) =>
    onChange(
      value === 'dates'
        ? { from: daysAgo(29), to: daysAgo(0), days: '' }
        : { days: value, from: '', to: '' },
    );
  return (
    <div className="filters">
      <SelectField
        label="Time range"
        value={chosen}
        options={[
          ...DAY_RANGES.map((count) => [count, `Last ${count} days`] as const),
          ['dates', 'Custom range'],
        ]}
        onChange={choose}
      />
      {chosen === 'dates' &&
        (['from', 'to'] as const).map((name) => (
          <TextField
            key={name}
            label={name === 'from' ? 'From (UTC)' : 'To (UTC)'}
            type="date"
            value={texts[name] ?? ''}
            onChange={(text) => onChange({ [name]: text })}
          />
        ))}
      <SelectField
        label="Group by"
        value={by}
        options={splits}
        onChange={(split) => onChange({ by: split })}
      />
      <FilterSelect
        label="Then by"
        any="None"
        value={then ?? ''}
        options={splits.filter(([id]) => id !== by)}
        onChange={(split) => onChange({ then: split })}
      />
    </div>
  );
}

function useMargin({ start_date, end_date }: Range, group_by: string, limit: number) {
  const query = { start_date, ...(end_date && { end_date }), group_by, limit };
  return useQuery({
    queryKey: ['admin', 'margin', query],
    queryFn: ({ signal }) => api.GET('/v1/admin/margin', { params: { query }, signal }),
    // Keeps data of another time range, but not of other dimensions, whose columns differ.
    placeholderData: (before) => (before?.group_by === group_by ? before : undefined),
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
        hint="part of charges, not collected"
      />
      <Stat
        id="refunded"
        label="Refunded"
        value={<Credits value={total.refunded} />}
        hint="part of charges, returned"
      />
      <Stat id="vendor_cost" label="Vendor cost" value={<Credits value={total.vendor_cost} />} />
      <Stat
        id="margin"
        label="Margin"
        value={<Credits value={total.margin} />}
        hint={`${shareOf(total)} of charges`}
      />
      <Stat id="requests" label="Requests" value={formatCount(total.requests)} />
    </Stats>
  );
}

function DayChart({ days }: { days: readonly Group[] }): ReactNode {
  const chart = useMemo(() => {
    // Refunds of requests whose day is unknown have no day.
    const known = days.filter(({ groups }) => groups['day'] != null);
    return {
      times: known.map(({ groups }) => groups['day'] ?? ''),
      series: [
        { label: 'Charged', values: known.map(({ charged }) => charged) },
        { label: 'Vendor cost', values: known.map(({ vendor_cost }) => vendor_cost) },
        { label: 'Margin', values: known.map(({ margin }) => margin) },
      ],
    };
  }, [days]);
  return (
    <ChartCard title="Charges, vendor cost and margin per day" {...chart} format={formatUsd} />
  );
}

function shareOf({ charged, margin }: Sums): string {
  return charged > 0 ? formatShare(margin / charged) : '–';
}

function isSplit(name: string): name is Split {
  return name in SPLITS;
}
