import { useQuery } from '@tanstack/react-query';
import { useMemo, type ReactNode } from 'react';
import { api } from '../../api/client';
import type { components } from '../../api/schema';
import { formatUsd } from '../../format/credits';
import { formatDay } from '../../format/times';
import { Card, Chart, Credits, Duration, QueryState, Stat, Stats } from '../../ui';
import { burnDown } from './burn-down';

type History = components['schemas']['CreditHistory'];

/** Balance, spend rate and time left. The rate covers the last 7 days, regardless of the page's range. */
export function Balance({ days }: { days: number }): ReactNode {
  const credits = useQuery({
    queryKey: ['credits'],
    queryFn: ({ signal }) => api.GET('/v1/customer/credits', { signal }),
    refetchInterval: 15_000,
  });
  const history = useQuery({
    queryKey: ['credits', 'history', days],
    queryFn: ({ signal }) =>
      api.GET('/v1/customer/credits/history', { params: { query: { days } }, signal }),
    placeholderData: (before) => before,
  });
  return (
    <>
      <QueryState query={credits}>
        {({ balance }) => (
          <Stats>
            <Stat id="balance" label="Available" value={<Credits value={balance.available} />} />
            <Stat
              id="held"
              label="Reserved"
              value={<Credits value={balance.held} />}
              hint="by running requests"
            />
            <Stat
              id="daily_spend"
              label="Daily spend"
              value={<Credits value={history.data?.daily_spend} />}
              hint="average of the last 7 full days"
            />
            <Lasts history={history.data} />
          </Stats>
        )}
      </QueryState>
      <Card title="Balance and forecast">
        <QueryState query={history}>{(known) => <BurnDownChart history={known} />}</QueryState>
      </Card>
    </>
  );
}

function Lasts({ history }: { history: History | undefined }): ReactNode {
  const until = history?.lasts_until;
  if (!until) {
    const isIdle = history?.daily_spend === 0;
    return (
      <Stat
        id="lasts_until"
        label="Time left"
        value={history ? 'unlimited' : '–'}
        hint={isIdle ? 'no spend in the last 7 days' : 'at the current rate'}
      />
    );
  }
  const left = Date.parse(until) - Date.now();
  return (
    <Stat
      id="lasts_until"
      label="Time left"
      value={left > 0 ? <Duration ms={left} /> : 'used up'}
      hint={left > 0 && `at the current rate, until ${formatDay(until)}`}
    />
  );
}

function BurnDownChart({ history }: { history: History }): ReactNode {
  const { times, balance, expected } = useMemo(
    () => burnDown(history.data, history.daily_spend),
    [history],
  );
  const series = useMemo(
    () => [
      { label: 'Balance', values: balance },
      ...(expected.some((value) => value !== null)
        ? [{ label: 'Forecast', values: expected, dashed: true }]
        : []),
    ],
    [balance, expected],
  );
  return <Chart title="Balance by day" times={times} series={series} format={formatUsd} />;
}
