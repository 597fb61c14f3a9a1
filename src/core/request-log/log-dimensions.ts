import { isTagKey, type RequestTags } from '../../canonical/request-tags.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { RequestStatus } from './request-log-row.js';

/** What requests are grouped by; `tag:<key>` besides. */
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

/** Before the key of a tag that is a dimension. */
export const TAG = 'tag:';
const MAX_DIMENSIONS = 2;

/** One thing that requests are grouped by, in SQL over rows of the log or their series. */
export interface LogDimension {
  /** As it was asked for. */
  readonly name: string;
  /** Of times: how long each is. */
  readonly grain?: 'month' | 'day' | 'hour';
  /** @param time the column that says when. @param parameter gives a value its place in the statement */
  readonly sql: (time: string, parameter: (value: string) => string) => string;
  readonly read: (stored: string) => string;
}

/** The value of a dimension of time in SQL, as it is shown. */
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
 * What `group_by` names: one dimension or two, with a comma between them.
 *
 * @param isOverTenants whether `tenant` is one
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
      `group_by must be one of ${known.join(', ')} and tag:<key>, or two of them with a comma between.`,
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

/** The groups' values as texts. */
export function shown(dimensions: readonly LogDimension[]): string {
  return ['first', 'second']
    .map((name, index) => (dimensions[index]?.grain ? `${isoTime(name)} AS ${name}` : name))
    .join(', ');
}

/** Whether a series of the rest lacks one of the values. Times are never lost. */
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

/** Times in their order, then the dearest groups. */
export function orderOf(dimensions: readonly LogDimension[]): string {
  const times = dimensions.flatMap(({ grain }, index) =>
    grain === undefined ? [] : [index === 0 ? 'first' : 'second'],
  );
  return [...times, ...['cost DESC', 'requests DESC', 'first', 'second']]
    .map((order) => `grouped.${order}`)
    .join(', ');
}

/** Which requests are asked for, apart from their time; what is undefined does not matter. */
export interface LogFilters {
  readonly status?: RequestStatus | undefined;
  /** Exactly this alias. */
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly endpoint?: string | undefined;
  /** A UUID. */
  readonly apiKeyId?: string | undefined;
  readonly endUser?: string | undefined;
  /** All of them. */
  readonly tags?: RequestTags | undefined;
  /** Credits charged; of rows alone, as sums do not know it. */
  readonly minCost?: number | undefined;
  readonly maxCost?: number | undefined;
}

/**
 * The conditions that filters put on rows of the log or their series.
 *
 * @param parameter gives a value its place in the statement
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

/** Where in a list a row stands: when it was written, to the microsecond, and its id. */
export interface LogPlace {
  readonly at: string;
  readonly id: string;
}

/** What comes behind an instant that ends what was looked at; all rows have ids above that. */
export const placeBefore = (at: string): LogPlace => ({ at, id: '0' });

/** The last instant that rows behind a place may have, without its microseconds. */
export function lastInstant({ at, id }: LogPlace): Date {
  return new Date(Date.parse(at) - (id === '0' ? 1 : 0));
}

/**
 * The condition that rows come behind a place, as lists are newest first. Not as a comparison of pairs: PostgreSQL
 * would begin there in the index, and not where the hour that is read does. @param parameter as above
 */
export function olderThan({ at, id }: LogPlace, parameter: (value: string) => string): string {
  const instant = `${parameter(at)}::timestamptz`;
  return `(created_at < ${instant} OR created_at = ${instant} AND id < ${parameter(id)}::bigint)`;
}
