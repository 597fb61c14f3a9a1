import createClient from 'openapi-fetch';
import { ApiError, toApiError, unreachable } from '../api/client';
import type { components, paths } from '../api/schema';
import type { ModelRequest } from './build-request';

export type Quote = components['schemas']['Quote'];

/** A session cookie next to the key would identify two callers. */
const api = createClient<paths>({ baseUrl: '/', credentials: 'omit' });

/** Estimates the cost of a call without making it. Takes the same body and key as the call. */
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
