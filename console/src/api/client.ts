import createClient, {
  type Client,
  type ClientPathsWithMethod,
  type FetchResponse,
  type MaybeOptionalInit,
  type Middleware,
} from 'openapi-fetch';
import { ApiError } from './api-error';
import type { paths } from './schema';

export { ApiError };

/** Sent with every request of this tab, in addition to the cookie. */
const context = { csrfToken: '', tenantId: '' };
let onSessionEnd: () => void = () => {};

/** Sets the CSRF token and the tenant of later requests. */
export function setRequestContext(values: Partial<typeof context>): void {
  Object.assign(context, values);
}

/** Calls `listener` when the API reports that the session has ended. */
export function listenForSessionEnd(listener: () => void): void {
  onSessionEnd = listener;
}

/** Returns the session headers for requests made outside `api`, such as downloads and streams. */
export function requestHeaders(method: string): Record<string, string> {
  return {
    ...(method !== 'GET' && context.csrfToken ? { 'X-CSRF-Token': context.csrfToken } : {}),
    ...(context.tenantId ? { 'X-Gateway-Tenant': context.tenantId } : {}),
  };
}

const withSession: Middleware = {
  onRequest({ request, schemaPath }) {
    const headers = requestHeaders(request.method);
    // Operator and login endpoints take no tenant.
    if (/^\/v1\/(admin|auth)(\/|$)/.test(schemaPath)) delete headers['X-Gateway-Tenant'];
    for (const [name, value] of Object.entries(headers)) {
      // Operator pages may request another tenant than the selected one.
      if (!request.headers.has(name)) request.headers.set(name, value);
    }
    return request;
  },
};

const client = createClient<paths>({ baseUrl: '/', credentials: 'same-origin' });
client.use(withSession);

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type BodyOf<Answer> = [Answer] extends [{ data?: infer Body }] ? Body : never;
type Answer<Operations, Of extends Method> =
  Operations extends Record<Of, infer Operation extends object>
    ? FetchResponse<Operation, object, `${string}/${string}`>
    : never;

/**
 * Calls an API path with typed parameters and body.
 *
 * @throws ApiError for error responses, and with status 0 for network errors
 */
type Call<Of extends Method> = <
  Path extends ClientPathsWithMethod<Client<paths>, Of>,
  Init extends MaybeOptionalInit<paths[Path], Of>,
>(
  path: Path,
  ...init: undefined extends Init ? [Init?] : [Init]
) => Promise<BodyOf<Answer<paths[Path], Of>>>;

type Api = { [Of in Method as Uppercase<Of>]: Call<Of> };

/** The API client, typed by the OpenAPI document. Each call resolves to the response body. */
export const api = {
  GET: caller('get'),
  POST: caller('post'),
  PUT: caller('put'),
  PATCH: caller('patch'),
  DELETE: caller('delete'),
} as Api; // openapi-fetch types the envelope around the body only.

function caller(method: Method): (path: string, init?: object) => Promise<unknown> {
  const request = client.request as (
    method: Method,
    path: string,
    init?: object,
  ) => Promise<{ data?: unknown; error?: unknown; response: Response }>;
  return async (path, init) => {
    const { data, error, response } = await request(method, path, init).catch((reason: unknown) => {
      if (reason instanceof DOMException && reason.name === 'AbortError') throw reason;
      throw unreachable();
    });
    if (response.ok) return data;
    if (response.status === 401) onSessionEnd();
    throw toApiError(error, response);
  };
}

/** Returns the error for a request without a response. */
export function unreachable(): ApiError {
  return new ApiError(
    0,
    'The gateway is unreachable. Check your connection and try again.',
    null,
    null,
    null,
  );
}

/** Converts an error response of the API. */
export function toApiError(body: unknown, response: Response): ApiError {
  const { message, param } = readError(body);
  const retryAfter = Number(response.headers.get('retry-after') ?? NaN);
  return new ApiError(
    response.status,
    message ?? `The gateway returned status ${response.status}.`,
    param,
    response.headers.get('x-request-id'),
    Number.isFinite(retryAfter) ? retryAfter : null,
  );
}

function readError(body: unknown): { message: string | null; param: string | null } {
  const error = memberOf(body, 'error');
  const message = memberOf(error, 'message');
  const param = memberOf(error, 'param');
  return {
    message: typeof message === 'string' ? message : null,
    param: typeof param === 'string' ? param : null,
  };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
