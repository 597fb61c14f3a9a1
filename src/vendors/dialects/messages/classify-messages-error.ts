import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError, type UpstreamFailure } from '../../upstream-error.js';
import {
  readErrorBody,
  isOperatorStatus,
  isServerStatus,
  isPromptTooLong,
  shownMessage,
} from '../failed-answer.js';
import { parseAnswerObject, objectOf } from '../answer-json.js';
import { readRetryAfterMs } from '../../../platform/http/retry-after.js';

/** Equivalent statuses of error types in an answer with status 200. */
const STATUS_OF_TYPE: ReadonlyMap<unknown, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['conflict_error', 409],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);

/** Errors that the operator must act on, whatever their status. */
const OPERATOR_TYPES = new Set<unknown>([
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
]);

/** Errors for exhausted credit, by code and text; the vendor reports some as a bad request. */
const EXHAUSTED_CODES = new Set<unknown>([
  'contract_spend_limit_reached',
  'enforced_spend_limit_reached',
  'linked_organization_spend_limit_reached',
  'linked_organization_billing_unavailable',
  'organization_on_hold',
]);
const SPENT = /credit balance is too low|specified (?:workspace )?API usage limits/i;

/** Too long a prompt, in words that only Claude's vendors use. */
const TOO_MANY_BYTES = /too many total text bytes/i;

/** Features that one model rejects and another may accept. */
const MODEL_LACKS =
  /(?:not supported|deprecated|not available|not allowed) (?:for|on|by|with) this model|this model does not support|maximum allowed number of output tokens/i;

/** Classifies a failed answer of the messages dialect. */
export function classifyMessagesError(
  status: number,
  headers: IncomingHttpHeaders,
  body: unknown,
): UpstreamError {
  const error = readErrorBody(body);
  const message = typeof error.message === 'string' ? error.message : `status ${status}`;
  const retryAfterMs = readRetryAfterMs(headers);
  const failure = classify(status, error, message);
  const param = failure === 'caller' || failure === 'unsupported' ? readParam(message) : undefined;
  return new UpstreamError({
    failure,
    status,
    message: shownMessage(message),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(param !== undefined && { param }),
  });
}

/** Classifies an error inside an answer with status 200 by its type. */
export function classifyInlineMessagesError(body: unknown): UpstreamError {
  return classifyMessagesError(STATUS_OF_TYPE.get(readErrorBody(body).type) ?? 500, {}, body);
}

function classify(status: number, error: JsonObject, message: string): UpstreamFailure {
  const { type } = error;
  const details = objectOf(error.details);
  if (isOperatorStatus(status)) return 'operator';
  if (OPERATOR_TYPES.has(type) || EXHAUSTED_CODES.has(details.error_code)) return 'operator';
  if (status < 500 && SPENT.test(message)) return 'operator';
  if (status === 429 || type === 'rate_limit_error') return 'rate_limited';
  if (status === 408 || status === 504 || type === 'timeout_error') return 'timeout';
  if (isServerStatus(status) || type === 'overloaded_error') return 'server';
  if (status < 400) return 'unreadable';
  if (status === 413 || type === 'request_too_large') return 'context_length';
  if (TOO_MANY_BYTES.test(message) || isPromptTooLong(message)) return 'context_length';
  return MODEL_LACKS.test(message) ? 'unsupported' : 'caller';
}

/** Reads the field at the start of the vendor's message: a path and a colon, or a name in quotes. */
function readParam(message: string): string | undefined {
  const match =
    /^([a-z_]{1,40}(?:\.[\w-]{1,64}){0,12}):/.exec(message) ??
    /^[`"']([a-z_]{1,40}(?:\.[\w-]{1,64}){0,12})[`"']/.exec(message);
  return match?.[1];
}

/**
 * Parses a vendor's JSON object.
 *
 * @param what description for the error
 * @throws UpstreamError `unreadable` for anything else, or classified from the vendor's own error
 */
export function parseMessagesJson(text: string, what: string): JsonObject {
  const value = parseAnswerObject(text, what);
  if (value.type === 'error' || isJsonObject(value.error)) throw classifyInlineMessagesError(value);
  return value;
}
