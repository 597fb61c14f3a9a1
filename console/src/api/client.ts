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

/** What every request of this tab carries beside its cookie; the session sets it. */
const context = { csrfToken: '', tenantId: '' };
let onSessionEnd: () => void = () => {};

/** Tells the client who is logged in, and for which tenant its requests are. */
export function setRequestContext(values: Partial<typeof context>): void {
  Object.assign(context, values);
}

/** Has `listener` called when the API says that there is no session any more. */
export function listenForSessionEnd(listener: () => void): void {
  onSessionEnd = listener;
}

/** The headers of a request to the API that is not made by `api`, as a download or a stream. */
export function requestHeaders(method: string): Record<string, string> {
  return {
    ...(method !== 'GET' && context.csrfToken ? { 'X-CSRF-Token': context.csrfToken } : {}),
    ...(context.tenantId ? { 'X-Gateway-Tenant': context.tenantId } : {}),
  };
}

const withSession: Middleware = {
  onRequest({ request, schemaPath }) {
    const headers = requestHeaders(request.method);
    // A tenant means nothing to what is about operators or the login itself.
    if (/^\/v1\/(admin|auth)(\/|$)/.test(schemaPath)) delete headers['X-Gateway-Tenant'];
    for (const [name, value] of Object.entries(headers)) {
      // An operator's page may ask for another tenant than the chosen one.
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
 * Asks for a path of the API, with parameters and a body as its description has them.
 *
 * @throws ApiError when the API refused, or could not be reached (status 0)
 */
type Call<Of extends Method> = <
  Path extends ClientPathsWithMethod<Client<paths>, Of>,
  Init extends MaybeOptionalInit<paths[Path], Of>,
>(
  path: Path,
  ...init: undefined extends Init ? [Init?] : [Init]
) => Promise<BodyOf<Answer<paths[Path], Of>>>;

type Api = { [Of in Method as Uppercase<Of>]: Call<Of> };

/** The API, as its OpenAPI description has it. Each call gives the body of its answer. */
export const api = {
  GET: ask('get'),
  POST: ask('post'),
  PUT: ask('put'),
  PATCH: ask('patch'),
  DELETE: ask('delete'),
} as Api; // The client types each path only with the envelope around its body.

function ask(method: Method): (path: string, init?: object) => Promise<unknown> {
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

/** What is said where nothing answered. */
export function unreachable(): ApiError {
  return new ApiError(0, 'The gateway can not be reached from this browser.', null, null, null);
}

/** What a refusal of the API says. */
export function toApiError(body: unknown, response: Response): ApiError {
  const { message, param } = readError(body);
  const retryAfter = Number(response.headers.get('retry-after') ?? NaN);
  return new ApiError(
    response.status,
    message ?? `The gateway answered with status ${response.status}.`,
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
