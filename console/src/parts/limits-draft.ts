import type { components } from '../api/schema';

export type Limits = components['schemas']['Limits'];
export type LimitsState = components['schemas']['LimitsState'];
export type BudgetPeriod = LimitsState['budgets'][number]['period'];

export const PERIODS: readonly BudgetPeriod[] = ['hour', 'day', 'week', 'month', 'total'];
export const RATES = ['requests_per_minute', 'tokens_per_minute', 'max_in_flight'] as const;
export const LISTS = ['models', 'providers'] as const;

/** Limits as form fields: all text, with one name per line in lists. */
export interface LimitsDraft {
  budgets: { period: BudgetPeriod; credits: string }[];
  rates: Record<(typeof RATES)[number], string>;
  lists: Record<(typeof LISTS)[number], { allow: string; deny: string }>;
}

export function toDraft(state: LimitsState | undefined): LimitsDraft {
  const listOf = (name: (typeof LISTS)[number]) => ({
    allow: (state?.[name]?.allow ?? []).join('\n'),
    deny: (state?.[name]?.deny ?? []).join('\n'),
  });
  const rateOf = (name: (typeof RATES)[number]) => String(state?.[name] ?? '');
  return {
    budgets: (state?.budgets ?? []).map(({ period, credits }) => ({
      period,
      credits: String(credits),
    })),
    rates: {
      requests_per_minute: rateOf('requests_per_minute'),
      tokens_per_minute: rateOf('tokens_per_minute'),
      max_in_flight: rateOf('max_in_flight'),
    },
    lists: { models: listOf('models'), providers: listOf('providers') },
  };
}

/** Parses the form. Empty fields mean no limit; invalid numbers become 0, which the API rejects by field name. */
export function fromDraft({ budgets, rates, lists }: LimitsDraft): Limits {
  const limits: Limits = {
    budgets: budgets.map(({ period, credits }) => ({ period, credits: toNumber(credits) ?? -1 })),
  };
  for (const name of RATES) limits[name] = toNumber(rates[name]);
  for (const name of LISTS) {
    const allow = toNames(lists[name].allow);
    const deny = toNames(lists[name].deny);
    if (allow.length > 0 || deny.length > 0) {
      limits[name] = {
        ...(allow.length > 0 && { allow }),
        ...(deny.length > 0 && { deny }),
      };
    }
  }
  return limits;
}

export function isEmptyState(state: LimitsState): boolean {
  return (
    state.budgets.length === 0 &&
    RATES.every((name) => state[name] === null) &&
    LISTS.every((name) => state[name] === null)
  );
}

/** Returns the budget with the smallest remaining share. */
export function tightest<Budget extends { credits: number; remaining: number }>(
  budgets: readonly Budget[],
): Budget | undefined {
  const left = ({ credits, remaining }: Budget) => (credits > 0 ? remaining / credits : 0);
  return budgets.toSorted((one, other) => left(one) - left(other))[0];
}

function toNumber(text: string): number | null {
  const trimmed = text.trim().replaceAll(/[,_\s]/g, '');
  if (trimmed === '') return null;
  return /^\d+$/.test(trimmed) ? Number(trimmed) : 0;
}

function toNames(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
