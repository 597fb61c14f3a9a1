import type { Database } from '../../src/platform/database/database.js';
import { until } from './until.js';

/** What the log says of a request, as far as tests ask. */
export interface LoggedRequest {
  request_id: string;
  /** The route that answered. */
  model: string;
  provider: string;
  endpoint: string;
  outcome: string;
  status: string;
  cost: number;
  vendor_cost: number | null;
  managed_tool_fee: number;
  usage_source: string;
  error_type: string | null;
  finish_reason: string | null;
  flagged: boolean;
  prompt_tokens: number;
  completion_tokens: number;
  cache_read_tokens: number;
  reasoning_tokens: number;
}

/**
 * How long after a change the service still answered as before it, in ms, at most: from what the change's caller saw to
 * when the last such request began. Instances write that down themselves, so a slow test is not taken for a slow service.
 *
 * @param condition of the log rows of requests that were answered as before, in SQL
 */
export async function answeredAsBeforeMs(
  database: Database,
  changedAt: Date,
  condition: string,
): Promise<number> {
  const { rows } = await database.query<{ last: Date | null }>(
    `SELECT max(created_at) AS last FROM request_logs WHERE ${condition}`,
  );
  const { last } = rows[0]!;
  if (!last) throw new Error('nothing was answered as before');
  return last.getTime() - changedAt.getTime();
}

/** Returns the log row of a request, once it is written. */
export async function loggedRequest(
  database: Database,
  id: string | null | undefined,
): Promise<LoggedRequest> {
  let row: LoggedRequest | undefined;
  await until(async () => {
    const { rows } = await database.query<LoggedRequest>(
      'SELECT * FROM request_logs WHERE request_id = $1',
      [id],
    );
    [row] = rows;
    return row !== undefined;
  });
  return row!;
}

/** The request id of an answer that has been read to its end. */
export async function idOf(answer: Promise<Response>): Promise<string> {
  const response = await answer;
  await response.arrayBuffer();
  return response.headers.get('x-request-id')!;
}
