import { toStoredText } from '../common/database/stored-text.js';
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

/** A condition on `request_logs`; its parameters are $1 to $n. */
export interface RequestLogCondition {
  sql: string;
  values: unknown[];
}

/** Says in SQL which rows of a tenant the filters leave. There is no form without a tenant. */
export function conditionOf(tenantId: string, filters: RequestLogFilters): RequestLogCondition {
  const values: unknown[] = [tenantId];
  const conditions = ['tenant_id = $1'];
  const restrict = (comparison: string, value: unknown) => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(`${comparison} $${values.length}`);
  };
  restrict('created_at >=', filters.start);
  restrict('created_at <', filters.end);
  restrict('status =', filters.status);
  restrict('model =', filters.model === undefined ? undefined : toStoredText(filters.model));
  restrict('api_key_id =', filters.apiKeyId);
  return { sql: conditions.join(' AND '), values };
}
