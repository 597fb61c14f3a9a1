import { request } from 'undici';
import { PATHS } from './prompts.mjs';

/**
 * Asks for an answer and may leave it. The hold is read from the database at the moment of leaving.
 *
 * @param options.leaveWhen is given the text that has come so far, and says when to leave
 * @param options.leaveAfterMs leaves after so long, whatever has come
 * @returns `status`, `requestId`, `text`, `hold`; the first two are missing when nothing had come
 */
export async function ask(stronghold, options) {
  const { dialect = 'chat', body, key = stronghold.keys.attacker } = options;
  const { leaveWhen = () => false, leaveAfterMs } = options;
  const leaving = new AbortController();
  const seen = { text: '', hold: undefined, hasLeft: false };
  const leave = async (condition, value) => {
    seen.hasLeft = true;
    seen.hold = await holdOf(stronghold, condition, value);
    leaving.abort();
  };
  const timer =
    leaveAfterMs &&
    setTimeout(
      () => leave('model = $1 ORDER BY created_at DESC LIMIT 1', body.model),
      leaveAfterMs,
    );
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
      if (!seen.hasLeft && leaveWhen(seen.text)) {
        await leave('request_id = $1', seen.requestId);
        break;
      }
    }
  } catch (error) {
    if (!leaving.signal.aborted) seen.failure = error.message;
  } finally {
    clearTimeout(timer);
  }
  return seen;
}

async function holdOf(stronghold, condition, value) {
  const rows = await stronghold.query(`SELECT amount FROM holds WHERE ${condition}`, [value]);
  return rows[0]?.amount;
}
