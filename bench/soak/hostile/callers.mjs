import { request } from 'undici';
import { PATHS } from './prompts.mjs';

/**
 * Sends a request and can disconnect early. Reads the hold from the database while it runs.
 *
 * @param options.readsHold false when too many run at once for PostgreSQL's connections
 * @param options.leaveWhen decides from the text so far when to disconnect
 * @param options.leaveAfterMs disconnects after a time
 * @returns `status`, `requestId`, `text`, `hold`; the first two are missing when nothing had arrived
 */
export async function ask(stronghold, options) {
  const { dialect = 'chat', body, key = stronghold.keys.attacker, readsHold = true } = options;
  const { leaveWhen = () => false, leaveAfterMs } = options;
  const leaving = new AbortController();
  const seen = { text: '', hold: undefined };
  let hold;
  const timers = leaveAfterMs
    ? [
        // Read beforehand, so that the time of the disconnect does not depend on the database.
        setTimeout(() => (hold = holdOf(stronghold, 'model', body.model)), leaveAfterMs / 2),
        setTimeout(() => leaving.abort(), leaveAfterMs),
      ]
    : [];
  try {
    const response = await request(stronghold.url + PATHS[dialect], {
      method: 'POST',
      dispatcher: stronghold.agent,
      signal: leaving.signal,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify(body),
    });
    seen.status = response.statusCode;
    seen.headers = response.headers;
    seen.requestId = response.headers['x-request-id'];
    for await (const chunk of response.body) {
      seen.text += chunk.toString('utf8');
      if (readsHold) hold ??= holdOf(stronghold, 'request_id', seen.requestId);
      if (leaveWhen(seen.text)) leaving.abort();
    }
  } catch (error) {
    if (!leaving.signal.aborted) seen.failure = error.message;
  } finally {
    timers.forEach(clearTimeout);
  }
  seen.hold = await hold;
  return seen;
}

/** Returns undefined when there is no hold any more. */
async function holdOf(stronghold, column, value) {
  const rows = await stronghold.query(
    `SELECT amount FROM holds WHERE ${column} = $1 ORDER BY created_at DESC LIMIT 1`,
    [value],
  );
  return rows[0]?.amount;
}
