import { toStoredText } from '../../../platform/database/stored-text.js';
import type { RequestStatus } from './request-log-row.js';

/** Which rows of a tenant are asked for; what is undefined does not matter. */
export interface RequestLogFilters {
  status?: RequestStatus;
  /** Exactly this alias. */
  model?: string;
  /** A UUID. */
  apiKeyId?: string;
  /** Rows of this instant and later. */
  start?: Date;
  /** Rows before this instant. */
  end?: Date;
}

/** A condition on rows of the log, or their sums; its parameters are $1 to $n. */
export interface RequestLogCondition {
  sql: string;
  values: unknown[];
}

/**
 * Says in SQL which rows of a tenant the filters leave, apart from their time. There is no form
 * without a tenant.
 */
export function conditionOf(
  tenantId: string,
  { status, model, apiKeyId }: Omit<RequestLogFilters, 'start' | 'end'>,
): RequestLogCondition {
  const values: unknown[] = [tenantId];
  const conditions = ['tenant_id = $1'];
  const restrict = (column: string, value: unknown) => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(`${column} = $${values.length}`);
  };
  restrict('status', status);
  restrict('model', model === undefined ? undefined : toStoredText(model));
  restrict('api_key_id', apiKeyId);
  return { sql: conditions.join(' AND '), values };
}
