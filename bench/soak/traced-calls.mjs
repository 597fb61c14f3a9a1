import { request } from 'undici';
import { makeUser } from '../answers.mjs';

export const CHAT = '/v1/chat/completions';
export const DESTINATIONS = '/v1/customer/broadcast/destinations';
export const OPT_IN = { 'x-gateway-broadcast': 'true' };

export function makeTracedBody() {
  return {
    model: 'bench/traced',
    user: makeUser('traced', 0),
    messages: [{ role: 'user', content: 'Hello there' }],
    max_tokens: 100,
  };
}

/** Sends a body, or a GET without one, and returns the response; throws for an error status. */
export function makeCaller({ url, target }, dispatcher) {
  return async (path, body, headers = {}) => {
    const response = await request(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      dispatcher,
      headers: {
        authorization: `Bearer ${target.apiKey}`,
        'content-type': 'application/json',
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${text}`);
    return JSON.parse(text);
  };
}
