import createClient from 'openapi-fetch';
import { ApiError, toApiError, unreachable } from '../api/client';
import type { components, paths } from '../api/schema';
import type { ModelRequest } from './build-request';

export type Quote = components['schemas']['Quote'];

/** With the session's cookie as well as a key it would be two callers at once. */
const api = createClient<paths>({ baseUrl: '/', credentials: 'omit' });

/** Asks with a key what a call would cost, without the call: by the same body, so with the same key. */
export async function quoteCall(
  { surface, body }: ModelRequest,
  key: string,
  signal: AbortSignal,
): Promise<{ quote: Quote | undefined; error: Error | null }> {
  try {
    const { data, error, response } = await api.POST('/v1/quote', {
      params: { query: { endpoint: surface } },
      headers: { authorization: `Bearer ${key}` },
      body,
      signal,
    });
    return { quote: data, error: data ? null : toApiError(error, response) };
  } catch (reason) {
    if (signal.aborted && reason instanceof Error) return { quote: undefined, error: reason };
    return { quote: undefined, error: reason instanceof ApiError ? reason : unreachable() };
  }
}
