import { isTagKey, type RequestTags } from '../../canonical/request-tags.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { RequestStatus } from './request-log-row.js';

/** Dimensions for grouping, besides `tag:<key>`. */
export const LOG_DIMENSIONS = [
  'model',
  'provider',
  'route',
  'endpoint',
  'api_key',
  'end_user',
  'status',
  'month',
  'day',
  'hour',
] as const;
type NamedDimension = (typeof LOG_DIMENSIONS)[number] | 'tenant';

/** Precedes the key of a tag dimension. */
export const TAG = 'tag:';
const MAX_DIMENSIONS = 2;

/** A dimension for grouping, in SQL over log rows or series. */
export interface LogDimension {
  /** As requested. */
  readonly name: string;
  /** Length of periods, for dimensions of time. */
  readonly grain?: 'month' | 'day' | 'hour';
  /**
   * @param time the time column
   * @param parameter adds a value to the statement's parameters
   */
  readonly sql: (time: string, parameter: (value: string) => string) => string;
  readonly read: (stored: string) => string;
}

/** Formats a time dimension in SQL. */
const isoTime = (time: string): string =>
  `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

const COLUMNS: Readonly<Record<Exclude<NamedDimension, 'month' | 'day' | 'hour'>, string>> = {
  model: 'model',
  provider: 'provider',
  route: `provider || '/' || model`,
  endpoint: 'endpoint',
  api_key: 'api_key_id::text',
  end_user: 'end_user',
  status: 'status',
  tenant: 'tenant_id::text',
};

/**
 * Parses `group_by`: one dimension, or two separated by a comma.
 *
 * @param isOverTenants whether `tenant` is allowed
 * @throws InvalidRequestError (`group_by`)
 */
export function readDimensions(
  groupBy: string,
  { isOverTenants = false }: { isOverTenants?: boolean } = {},
): LogDimension[] {
  const names = groupBy.split(',').map((name) => name.trim());
  const known: readonly string[] = isOverTenants ? ['tenant', ...LOG_DIMENSIONS] : LOG_DIMENSIONS;
  const isKnown = (name: string) =>
    known.includes(name) || (name.startsWith(TAG) && isTagKey(name.slice(TAG.length)));
  if (
    names.length > MAX_DIMENSIONS ||
    new Set(names).size < names.length ||
    !names.every(isKnown)
  ) {
    throw new InvalidRequestError(
      'group_by',
      `group_by must be one of ${known.join(', ')} and tag:<key>, or two of them separated by a comma.`,
    );
  }
  return names.map(toDimension);
}

function toDimension(name: string): LogDimension {
  if (name.startsWith(TAG)) {
    const key = name.slice(TAG.length);
    return { name, sql: (_, parameter) => `tags ->> ${parameter(key)}`, read: (value) => value };
  }
  if (name === 'month' || name === 'day' || name === 'hour') {
    return {
      name,
      grain: name,
      sql: (time) => `date_trunc('${name}', ${time}, 'UTC')`,
      read: (value) => value,
    };
  }
  const column = Object.entries(COLUMNS).find(([known]) => known === name)![1];
  return { name, sql: () => column, read: fromStoredText };
}

/** Selects the groups' values as text. */
export function shown(dimensions: readonly LogDimension[]): string {
  return ['first', 'second']
    .map((name, index) => (dimensions[index]?.grain ? `${isoTime(name)} AS ${name}` : name))
    .join(', ');
}

/** Returns a condition for rest series that lack one of the values. Times are never missing. */
export function isUnknown(
  dimensions: readonly LogDimension[],
  parameter: (value: string) => string,
): string {
  const unknown = dimensions.flatMap(({ grain, name, sql }) => {
    if (grain !== undefined) return [];
    const isMissing = `${sql('month', parameter)} IS NULL`;
    return [name === 'end_user' ? `(kind = 'each' AND ${isMissing})` : isMissing];
  });
  return unknown.join(' OR ') || 'false';
}

/** Sorts by time, then by cost, highest first. */
export function orderOf(dimensions: readonly LogDimension[]): string {
  const times = dimensions.flatMap(({ grain }, index) =>
    grain === undefined ? [] : [index === 0 ? 'first' : 'second'],
  );
  return [...times, ...['cost DESC', 'requests DESC', 'first', 'second']]
    .map((order) => `grouped.${order}`)
    .join(', ');
}

/** Filters on requests, apart from time; undefined fields match everything. */
export interface LogFilters {
  readonly status?: RequestStatus | undefined;
  /** An exact alias. */
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly endpoint?: string | undefined;
  /** A UUID. */
  readonly apiKeyId?: string | undefined;
  readonly endUser?: string | undefined;
  /** All of these tags. */
  readonly tags?: RequestTags | undefined;
  /** Credits charged; known to rows only, not to sums. */
  readonly minCost?: number | undefined;
  readonly maxCost?: number | undefined;
}

/**
 * Returns the filters as SQL conditions on log rows or series.
 *
 * @param parameter adds a value to the statement's parameters
 */
export function conditionsOf(filters: LogFilters, parameter: (value: string) => string): string[] {
  const { status, model, provider, endpoint, apiKeyId, endUser, tags } = filters;
  const texts = { status, model, provider, endpoint, end_user: endUser };
  const conditions = Object.entries(texts).flatMap(([column, value]) =>
    value === undefined ? [] : [`${column} = ${parameter(toStoredText(value))}`],
  );
  if (apiKeyId !== undefined) conditions.push(`api_key_id = ${parameter(apiKeyId)}::uuid`);
  if (tags) conditions.push(`tags @> ${parameter(JSON.stringify(tags))}::jsonb`);
  const { minCost, maxCost } = filters;
  if (minCost !== undefined) conditions.push(`cost >= ${parameter(String(minCost))}::bigint`);
  if (maxCost !== undefined) conditions.push(`cost <= ${parameter(String(maxCost))}::bigint`);
  return conditions;
}

/** A row's position in a list: its time to the microsecond, and its id. */
export interface LogPlace {
  readonly at: string;
  readonly id: string;
}

/** Returns the position before all rows of an instant; row ids are above 0. */
export const placeBefore = (at: string): LogPlace => ({ at, id: '0' });

/** Returns the latest time, in whole ms, of rows after a position. */
export function lastInstant({ at, id }: LogPlace): Date {
  return new Date(Date.parse(at) - (id === '0' ? 1 : 0));
}

/**
 * Returns the condition for rows after a position; lists are newest first. Not a comparison of
 * pairs: PostgreSQL would start at that position in the index instead of the hour being read.
 *
 * @param parameter as above
 */
export function olderThan({ at, id }: LogPlace, parameter: (value: string) => string): string {
  const instant = `${parameter(at)}::timestamptz`;
  return `(created_at < ${instant} OR created_at = ${instant} AND id < ${parameter(id)}::bigint)`;
}
