import type { components } from '../../api/schema';
import { formatCount } from '../../format/credits';

export type AlertKind = components['schemas']['CreateAlert']['kind'];
export type Condition = Record<string, unknown>;

interface Figure {
  name: string;
  label: string;
  /** `list`: comma-separated integers. An array: a choice of values with labels. */
  type: 'integer' | 'list' | 'text' | readonly (readonly [value: string, text: string])[];
  initial: string;
  isRequired: boolean;
  /** Only alerts of operators have it. */
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
  ...figure('tenant_id', 'Tenant id (empty: each tenant)', '', 'text'),
  isForOperator: true,
};

/** The kinds of alerts with their fields. */
export const KINDS: Record<AlertKind, { label: string; figures: readonly Figure[] }> = {
  balance_below: {
    label: 'Balance below',
    figures: [figure('credits', 'Credits', '5000000'), TENANT],
  },
  budget: {
    label: 'Budget usage',
    figures: [
      figure('thresholds', 'Thresholds in percent, comma-separated', '50, 80, 100', 'list'),
      figure('scope', 'Budget of', '', [
        ['', 'Any scope'],
        ['tenant', 'Tenant'],
        ['api_key', 'API key'],
        ['end_user', 'End user'],
      ]),
      figure('scope_id', 'API key id or end user (empty: any)', '', 'text'),
      TENANT,
    ],
  },
  error_rate: {
    label: 'Error rate',
    figures: [
      figure('percent', 'Failed requests in percent', '10'),
      figure('window_minutes', 'Window in minutes', '10'),
      figure('min_requests', 'Minimum requests', '20'),
      PROVIDER,
      { ...TENANT, label: 'Tenant id (empty: all tenants combined)' },
    ],
  },
  spend_unusual: {
    label: 'Unusual spend',
    figures: [
      figure('factor', 'Multiple of the usual hourly spend', '3'),
      figure('floor_credits', 'Minimum credits', '1000000'),
      TENANT,
    ],
  },
  vendor_unhealthy: { label: 'Provider failing', figures: [PROVIDER] },
  route_paused: { label: 'Route paused by an operator', figures: [PROVIDER] },
  prices_stale: { label: 'Outdated prices', figures: [] },
  prices_differ: { label: 'Prices differ from the public list', figures: [] },
};

/** Kinds that only operators can use. */
const OF_OPERATOR: readonly AlertKind[] = ['route_paused', 'prices_stale', 'prices_differ'];

/** Returns the kinds available to an owner. */
export function kindsOf(owner: 'tenant' | 'operator'): AlertKind[] {
  const kinds = Object.keys(KINDS).filter((kind): kind is AlertKind => kind in KINDS);
  return owner === 'operator' ? kinds : kinds.filter((kind) => !OF_OPERATOR.includes(kind));
}

/** Converts a condition to form fields, all of them text. */
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

/** Describes a condition in one line: `credits 5,000,000`. */
export function describeCondition(condition: Condition): string {
  return Object.entries(condition)
    .map(([name, value]) => [name, textOf(value, formatCount)] as const)
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `${name.replaceAll('_', ' ')} ${text}`)
    .join(' · ');
}

/** Formats a condition value; values other than text and numbers are omitted. */
function textOf(value: unknown, format: (count: number) => string): string {
  if (Array.isArray(value)) return value.map((each) => textOf(each, format)).join(', ');
  if (typeof value === 'number') return format(value);
  return typeof value === 'string' ? value : '';
}
