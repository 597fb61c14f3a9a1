import type { PoolClient } from 'pg';
import { conditionsOf } from './log-dimensions.js';
import type { RequestLogFilters } from './request-log-filters.js';
import type { Span } from './split-span.js';

const MAX_SERIES = 1_000;
/** Most requests that few series may have; each is in one hour. */
export const FEW_REQUESTS = 5_000;

interface Series {
  id: string;
  requests: number;
  is_rest: boolean;
}

/**
 * Returns the matching series if they are few enough to look their hours up individually. Undefined
 * when they are too many or incomplete; matches are then either frequent or must be searched for.
 *
 * @param tenantId undefined for all tenants
 * @param filters without those that only rows know
 */
export async function findFewSeries(
  client: PoolClient,
  tenantId: string | undefined,
  filters: RequestLogFilters,
  { start, end }: Pick<Span, 'start' | 'end'>,
  maxRequests: number,
): Promise<string[] | undefined> {
  const values: unknown[] = [start, end];
  const conditions = conditionsOf(filters, (value) => `$${values.push(value)}`);
  const kinds = `kind IN ('none', '${filters.endUser === undefined ? 'any' : 'each'}')`;
  const ofTenant = tenantId === undefined ? '' : `AND tenant_id = $${values.push(tenantId)}`;
  const { rows } = await client.query<Series>(
    `SELECT id, requests, is_rest FROM request_log_series
     WHERE ${kinds} ${ofTenant} AND month >= date_trunc('month', $1::timestamptz, 'UTC') AND month <= $2
       AND ((${conditions.join(' AND ') || 'true'}) OR is_rest)
     LIMIT ${MAX_SERIES + 1}`,
    values,
  );
  const requests = rows.reduce((sum, row) => sum + row.requests, 0);
  const isFew = rows.length <= MAX_SERIES && requests <= maxRequests;
  return isFew && !rows.some(({ is_rest: isRest }) => isRest)
    ? rows.map(({ id }) => id)
    : undefined;
}
