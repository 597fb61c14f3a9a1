import type { Database } from '../../src/platform/database/database.js';
import { until } from './until.js';

/** The columns of a log row that tests read. */
export interface LoggedRequest {
  request_id: string;
  /** The model of the route that answered. */
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
 * Returns for how many milliseconds, at most, the service kept its old behaviour: from the response to
 * the change until the last such request began. Instances record these times themselves, so a slow test
 * is not mistaken for a slow service.
 *
 * @param condition SQL condition for the log rows of requests answered in the old way
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
  if (!last) throw new Error('no request was answered in the old way');
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

/** Reads an answer to its end and returns its request id. */
export async function idOf(answer: Promise<Response>): Promise<string> {
  const response = await answer;
  await response.arrayBuffer();
  return response.headers.get('x-request-id')!;
}
