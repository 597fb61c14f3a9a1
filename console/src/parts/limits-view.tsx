import type { ReactNode } from 'react';
import { formatCount, formatUsd } from '../format/credits';
import { Bar, Facts, Time } from '../ui';
import { isEmptyState, type LimitsState } from './limits-draft';

export type BudgetState = LimitsState['budgets'][number];

export const PERIOD_LABEL: Record<BudgetState['period'], string> = {
  hour: 'per hour',
  day: 'per day',
  week: 'per week',
  month: 'per month',
  total: 'in total',
};

/** Shows a budget's usage as a bar and in figures, with its reset time. */
export function BudgetBar({
  budget,
  by,
  short = false,
}: {
  budget: BudgetState;
  by?: string;
  short?: boolean;
}): ReactNode {
  const { credits, spent, held, period, renews_at } = budget;
  const label = `${formatUsd(credits)} ${PERIOD_LABEL[period]}${by ? `, ${by}` : ''}`;
  return (
    <div className="budget">
      <div className="budget-line">
        <span>{label}</span>
        <span>
          {formatUsd(spent)} spent{held > 0 && `, ${formatUsd(held)} reserved`}
        </span>
      </div>
      <Bar used={spent + held} of={credits} label={label} />
      {!short && (
        <div className="budget-line muted">
          <span>
            {formatCount(spent + held)} of {formatCount(credits)} credits
          </span>
          <span>{renews_at ? <>resets {<Time at={renews_at} />}</> : 'never resets'}</span>
        </div>
      )}
    </div>
  );
}

/** Shows limits, or `none` if there are none. */
export function LimitsView({ state, none }: { state: LimitsState; none: string }): ReactNode {
  if (isEmptyState(state)) return <p className="muted">{none}</p>;
  const rates = [
    ['Requests per minute', state.requests_per_minute],
    ['Tokens per minute', state.tokens_per_minute],
    ['Concurrent requests', state.max_in_flight],
  ] as const;
  const lists = [
    ['Allowed models', state.models?.allow],
    ['Denied models', state.models?.deny],
    ['Allowed providers', state.providers?.allow],
    ['Denied providers', state.providers?.deny],
  ] as const;
  const facts = [
    ...rates.flatMap(([label, rate]) =>
      rate === null ? [] : [[label, formatCount(rate)] as const],
    ),
    ...lists.flatMap(([label, names]) => (names ? [[label, names.join(', ')] as const] : [])),
  ];
  return (
    <div className="stack">
      {state.budgets.map((budget) => (
        <BudgetBar key={budget.period} budget={budget} />
      ))}
      {facts.length > 0 && <Facts facts={facts} />}
    </div>
  );
}
