import { asciiLowerCase } from '../platform/text/ascii-lower-case.js';

export const BUDGET_PERIODS = ['hour', 'day', 'week', 'month', 'total'] as const;
/** Periods in UTC; a week begins on Monday, and `total` never renews. */
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** Credits that may be spent in each period. */
export interface Budget {
  readonly period: BudgetPeriod;
  readonly credits: number;
}

/** Allowed names, where `*` matches any text. Without `allow`, every name that `deny` does not match. */
export interface NameList {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** Limits as set by a tenant or operator, in the form in which they are stored and shown; absent: no limit. */
export interface Limits {
  readonly budgets?: readonly Budget[];
  readonly requests_per_minute?: number;
  readonly tokens_per_minute?: number;
  readonly max_in_flight?: number;
  readonly models?: NameList;
  readonly providers?: NameList;
}

/** Numeric limits. */
export const RATE_LIMITS = ['requests_per_minute', 'tokens_per_minute', 'max_in_flight'] as const;
export type RateLimit = (typeof RATE_LIMITS)[number];

/** The subject of a limit, as errors and the database name it. */
export type LimitScope = 'tenant' | 'api_key' | 'end_user';

/** Returns a scope's name for use in a sentence. */
export function nameOf(scope: LimitScope): string {
  return { tenant: 'tenant', api_key: 'key', end_user: 'end user' }[scope];
}

/** A subject with limits: the strictest of several settings, and all name lists. */
export interface LimitedSubject {
  readonly scope: LimitScope;
  /** The id of a tenant or key, or an end user's identifier. */
  readonly id: string;
  readonly budgets: readonly Budget[];
  readonly requests_per_minute?: number;
  readonly tokens_per_minute?: number;
  readonly max_in_flight?: number;
  readonly models: readonly NameList[];
  readonly providers: readonly NameList[];
}

/** Returns undefined when none of the documents limits anything. */
export function limitedSubject(
  scope: LimitScope,
  id: string,
  documents: readonly (Limits | null | undefined)[],
): LimitedSubject | undefined {
  const set = documents.filter((each): each is Limits => each != null);
  const subject: LimitedSubject = {
    scope,
    id,
    budgets: strictestBudgets(set),
    ...strictestRates(set),
    models: set.flatMap(({ models }) => models ?? []),
    providers: set.flatMap(({ providers }) => providers ?? []),
  };
  const { budgets, models, providers } = subject;
  const lists = budgets.length + models.length + providers.length;
  const isLimited = lists > 0 || RATE_LIMITS.some((rate) => subject[rate] !== undefined);
  return isLimited ? subject : undefined;
}

/** Returns the lowest budget for each period. */
export function strictestBudgets(documents: readonly Pick<Limits, 'budgets'>[]): Budget[] {
  const all = documents.flatMap(({ budgets }) => budgets ?? []);
  return BUDGET_PERIODS.flatMap((period) => {
    const credits = all.filter((each) => each.period === period).map((each) => each.credits);
    return credits.length === 0 ? [] : [{ period, credits: Math.min(...credits) }];
  });
}

export function strictestRates(
  documents: readonly Pick<Limits, RateLimit>[],
): Partial<Record<RateLimit, number>> {
  const strictest: Partial<Record<RateLimit, number>> = {};
  for (const rate of RATE_LIMITS) {
    const given = documents.flatMap((each) => each[rate] ?? []);
    if (given.length > 0) strictest[rate] = Math.min(...given);
  }
  return strictest;
}

/** Returns the subjects with limits that the ledger checks under its lock. */
export function heldSubjects(
  subjects: readonly LimitedSubject[] | undefined,
): readonly LimitedSubject[] | undefined {
  if (!subjects) return undefined;
  const held = subjects.filter(
    ({ budgets, max_in_flight }) => budgets.length > 0 || max_in_flight !== undefined,
  );
  return held.length > 0 ? held : undefined;
}

/**
 * Returns the first subject whose lists rule out every name of a thing.
 *
 * @param kind the list to check
 * @param names all names of the thing: denying any of them denies it, allowing any allows it
 */
export function denierOf(
  subjects: readonly LimitedSubject[],
  kind: 'models' | 'providers',
  names: readonly string[],
): LimitedSubject | undefined {
  return subjects.find((subject) => subject[kind].some((list) => !allows(list, names)));
}

function allows({ allow, deny }: NameList, names: readonly string[]): boolean {
  // Some vendors ignore the case of model names.
  const plain = names.map(asciiLowerCase);
  const isNamed = (patterns: readonly string[]): boolean =>
    patterns.some((pattern) => plain.some((name) => matches(asciiLowerCase(pattern), name)));
  return (allow === undefined || isNamed(allow)) && !(deny && isNamed(deny));
}

/** Returns whether a name matches a pattern with `*` wildcards. Linear time, because tenants write patterns. */
export function matches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first) || name.length < first.length + last.length) return false;
  let from = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, from);
    if (found === -1) return false;
    from = found + part.length;
  }
  return name.endsWith(last) && from <= name.length - last.length;
}

/** Returns when a budget renews; null: never. */
export function renewalOf(period: BudgetPeriod, now: Date): Date | null {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  switch (period) {
    case 'hour':
      return new Date(Date.UTC(year, month, day, now.getUTCHours() + 1));
    case 'day':
      return new Date(Date.UTC(year, month, day + 1));
    case 'week':
      return new Date(Date.UTC(year, month, day + 7 - ((now.getUTCDay() + 6) % 7)));
    case 'month':
      return new Date(Date.UTC(year, month + 1));
    case 'total':
      return null;
  }
}
