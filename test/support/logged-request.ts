import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../src/platform/database/database.js';

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

/** Half a minute and more. */
const TRIES = 1_500;

/** The log row of a request, once it stands. */
export async function loggedRequest(
  database: Database,
  id: string | null | undefined,
): Promise<LoggedRequest> {
  for (let tries = 0; tries < TRIES; tries++) {
    const { rows } = await database.query<LoggedRequest>(
      'SELECT * FROM request_logs WHERE request_id = $1',
      [id],
    );
    if (rows[0]) return rows[0];
    await wait(20);
  }
  throw new Error(`no log row for ${id}`);
}
