import type { components } from '../../api/schema';
import { formatCount } from '../../format/credits';

export type AlertKind = components['schemas']['CreateAlert']['kind'];
export type Condition = Record<string, unknown>;

interface Figure {
  name: string;
  label: string;
  /** `list`: whole numbers with commas between; an array: one of these, by value and in words. */
  type: 'integer' | 'list' | 'text' | readonly (readonly [value: string, text: string])[];
  initial: string;
  isRequired: boolean;
  /** Tenants' own alerts do not take it. */
  isForOperator?: boolean;
}

const figure = (
  name: string,
  label: string,
  initial: string,
  type: Figure['type'] = 'integer',
): Figure => ({ name, label, type, initial, isRequired: type === 'integer' || type === 'list' });

const PROVIDER = figure('provider', 'Provider (empty: all)', '', 'text');

const TENANT: Figure = {
  ...figure('tenant_id', 'Of which tenant (its id; empty: each)', '', 'text'),
  isForOperator: true,
};

/** What one can be told of, and its figures. */
export const KINDS: Record<AlertKind, { label: string; figures: readonly Figure[] }> = {
  balance_below: {
    label: 'The balance is below',
    figures: [figure('credits', 'Credits', '5000000'), TENANT],
  },
  budget: {
    label: 'A budget is used up',
    figures: [
      figure('thresholds', 'Percent, with commas between', '50, 80, 100', 'list'),
      figure('scope', 'Whose', '', [
        ['', 'anybody’s'],
        ['tenant', 'that of all requests'],
        ['api_key', 'a key’s'],
        ['end_user', 'an end user’s'],
      ]),
      figure('scope_id', 'Of which key (its id) or end user (empty: each)', '', 'text'),
      TENANT,
    ],
  },
  error_rate: {
    label: 'Requests fail',
    figures: [
      figure('percent', 'Percent that fail', '10'),
      figure('window_minutes', 'Within minutes', '10'),
      figure('min_requests', 'Of at least so many', '20'),
      PROVIDER,
      { ...TENANT, label: 'Of which tenant (its id; empty: all together)' },
    ],
  },
  spend_unusual: {
    label: 'Spend is unusual',
    figures: [
      figure('factor', 'Times the usual hour', '3'),
      figure('floor_credits', 'From so many credits', '1000000'),
      TENANT,
    ],
  },
  vendor_unhealthy: { label: 'A vendor fails', figures: [PROVIDER] },
  route_paused: { label: 'An operator pauses a route', figures: [PROVIDER] },
  prices_stale: { label: 'Prices are old', figures: [] },
  prices_differ: { label: 'Prices differ from the public list', figures: [] },
};

/** What is the operator's business alone. */
const OF_OPERATOR: readonly AlertKind[] = ['route_paused', 'prices_stale', 'prices_differ'];

/** The kinds that an owner's alerts can be of. */
export function kindsOf(owner: 'tenant' | 'operator'): AlertKind[] {
  const kinds = Object.keys(KINDS).filter((kind): kind is AlertKind => kind in KINDS);
  return owner === 'operator' ? kinds : kinds.filter((kind) => !OF_OPERATOR.includes(kind));
}

/** A condition as a form has it: all is text. */
export function toTexts(kind: AlertKind, condition: Condition | undefined): Record<string, string> {
  const figures = KINDS[kind].figures;
  return Object.fromEntries(
    figures.map(({ name, initial }) => {
      if (!condition) return [name, initial];
      return [name, textOf(condition[name], String)];
    }),
  );
}

export function fromTexts(kind: AlertKind, texts: Readonly<Record<string, string>>): Condition {
  const figures = KINDS[kind].figures;
  const condition: Condition = {};
  for (const { name, type } of figures) {
    const text = texts[name]?.trim() ?? '';
    if (text === '') continue;
    if (type === 'list') condition[name] = text.split(',').map(Number);
    else condition[name] = type === 'integer' ? Number(text) : text;
  }
  return condition;
}

/** A condition in a line: `credits 5,000,000`. */
export function describeCondition(condition: Condition): string {
  return Object.entries(condition)
    .map(([name, value]) => [name, textOf(value, formatCount)] as const)
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `${name.replaceAll('_', ' ')} ${text}`)
    .join(' · ');
}

/** A figure as text; what is neither text nor numbers is not said. */
function textOf(value: unknown, format: (count: number) => string): string {
  if (Array.isArray(value)) return value.map((each) => textOf(each, format)).join(', ');
  if (typeof value === 'number') return format(value);
  return typeof value === 'string' ? value : '';
}
