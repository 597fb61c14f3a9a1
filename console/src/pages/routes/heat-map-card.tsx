import { useQuery } from '@tanstack/react-query';
import { useLayoutEffect, useRef, type ReactNode } from 'react';
import { api } from '../../api/client';
import type { components } from '../../api/schema';
import { formatCount, formatShare } from '../../format/credits';
import { formatDuration, formatTime } from '../../format/times';
import { useFilters } from '../../shell/use-filters';
import { Card, FilterSelect, EmptyState, QueryState, SelectField } from '../../ui';
import { heatOf, shareFailed, stepsOf, sumOfSteps, type Heat, type HeatStep } from './heat-map';

type History = components['schemas']['RouteHistory'];

const RANGES = [
  ['6', 'Last 6 hours'],
  ['24', 'Last 24 hours'],
  ['168', 'Last 7 days'],
] as const;
/** One time label per this many columns. */
const LABEL_EVERY = 8;

/** Distinguishes cells without colour. */
const SIGN_OF: Record<Heat, string> = { none: '', good: '', fair: '·', poor: '!', bad: '✕' };
const LEGEND: readonly [Heat, string][] = [
  ['none', 'no calls'],
  ['good', 'no failures'],
  ['fair', 'below 5 %'],
  ['poor', 'below 25 %'],
  ['bad', '25 % or more'],
];

/** The failure rate of routes over time. */
export function HeatMap(): ReactNode {
  const [{ hours = '24', provider = '' }, setFilters] = useFilters(['hours', 'provider']);
  const range = RANGES.find(([value]) => value === hours)?.[0] ?? '24';
  const history = useQuery({
    queryKey: ['admin', 'routes', 'history', range],
    queryFn: ({ signal }) =>
      api.GET('/v1/admin/routes/history', { params: { query: { hours: Number(range) } }, signal }),
    refetchInterval: 30_000,
    placeholderData: (before) => before,
  });
  const providers = [...new Set(history.data?.data.map((route) => route.provider))];
  return (
    <>
      <div className="filters">
        <SelectField
          label="Time range"
          value={range}
          options={RANGES}
          onChange={(chosen) => setFilters({ hours: chosen })}
        />
        <FilterSelect
          label="Provider"
          any="All"
          value={provider}
          options={providers}
          onChange={(chosen) => setFilters({ provider: chosen })}
        />
      </div>
      <Card title="Failure rate by route">
        <QueryState
          query={history}
          isEmpty={({ data }) => data.length === 0}
          empty={
            <EmptyState title="No calls in this time range">
              <span>Vendor calls appear here within 10 s.</span>
            </EmptyState>
          }
        >
          {(known) => (
            <>
              <div className="row" aria-hidden="true">
                {LEGEND.map(([heat, label]) => (
                  <span key={heat} className="heat-key">
                    <span className={`heat heat-${heat}`}>{SIGN_OF[heat]}</span> {label}
                  </span>
                ))}
              </div>
              <Grid history={known} provider={provider} />
            </>
          )}
        </QueryState>
      </Card>
    </>
  );
}

function Grid({ history, provider }: { history: History; provider: string }): ReactNode {
  const { start, step_seconds: step } = history;
  const times = stepsOf(start, step, Date.now());
  const frame = useRef<HTMLDivElement>(null);
  // Scrolls to the latest values if not all fit.
  useLayoutEffect(() => {
    if (frame.current) frame.current.scrollLeft = frame.current.scrollWidth;
  }, [step]);
  const routes = history.data.filter((route) => provider === '' || route.provider === provider);
  return (
    <div
      ref={frame}
      className="table-frame"
      tabIndex={0}
      role="region"
      aria-label="Failure rate by route"
    >
      <table className="heat-map">
        <caption className="visually-hidden">
          Failure rate by route in steps of {formatDuration(step * 1_000)}
        </caption>
        <thead>
          <tr>
            <th scope="col">Route</th>
            <th scope="col">Calls</th>
            {times.map((at, index) =>
              index % LABEL_EVERY === 0 ? (
                <th key={at} scope="colgroup" colSpan={Math.min(LABEL_EVERY, times.length - index)}>
                  {labelOf(at, step)}
                </th>
              ) : null,
            )}
          </tr>
        </thead>
        <tbody>
          {routes.map(({ provider: by, model, steps }) => {
            const known = new Map(steps.map((each) => [Date.parse(each.at), each]));
            const sum = sumOfSteps(steps);
            return (
              <tr key={`${by} ${model}`}>
                <th scope="row" title={`${model} at ${by}`}>
                  {model} <span className="muted">at {by}</span>
                </th>
                <td>{formatCount(Math.max(sum.failed, sum.answered + sum.failed))}</td>
                {times.map((at) => (
                  <Cell key={at} at={at} step={known.get(at)} />
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ at, step }: { at: number; step: HeatStep | undefined }): ReactNode {
  const heat = heatOf(step);
  const text = `${formatTime(new Date(at))}: ${step && heat !== 'none' ? describeStep(step) : 'no calls'}`;
  return (
    <td className={`heat heat-${heat}`} title={text}>
      <span aria-hidden="true">{SIGN_OF[heat]}</span>
      <span className="visually-hidden">{step ? describeStep(step) : 'no calls'}</span>
    </td>
  );
}

function describeStep(step: HeatStep): string {
  const latency =
    step.latency_ms === null ? '' : `, first token after ${formatDuration(step.latency_ms)}`;
  return `${formatCount(step.answered)} succeeded, ${formatCount(step.failed)} failed (${formatShare(shareFailed(step))})${latency}`;
}

function labelOf(at: number, stepSeconds: number): string {
  const date = new Date(at);
  const isLong = stepSeconds > 3_600;
  return isLong
    ? date.toLocaleDateString(undefined, { month: 'short', day: 'numeric' })
    : date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
}
