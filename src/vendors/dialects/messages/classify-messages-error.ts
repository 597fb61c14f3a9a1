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

/** The status that a type stands for, in an answer that began with status 200. */
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

/** What is the operator's to mend, whatever status it comes with. */
const OPERATOR_TYPES = new Set<unknown>([
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
]);

/** The account's money, in codes and in words; the vendor calls some of it a bad request. */
const SPENT_CODES = new Set<unknown>([
  'contract_spend_limit_reached',
  'enforced_spend_limit_reached',
  'linked_organization_spend_limit_reached',
  'linked_organization_billing_unavailable',
  'organization_on_hold',
]);
const SPENT = /credit balance is too low|specified (?:workspace )?API usage limits/i;

/** What only Claude's vendors say of a prompt that is too long. */
const TOO_MANY_BYTES = /too many total text bytes/i;

/** What one model refuses and another may take. */
const NOT_THIS_MODEL =
  /(?:not supported|deprecated|not available|not allowed) (?:for|on|by|with) this model|this model does not support|maximum allowed number of output tokens/i;

/** Whose fault a failed answer in the messages dialect is, and what can be done about it. */
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

/** An error that came inside an answer with status 200; its type tells the status it stands for. */
export function classifyInlineMessagesError(body: unknown): UpstreamError {
  return classifyMessagesError(STATUS_OF_TYPE.get(readErrorBody(body).type) ?? 500, {}, body);
}

function classify(status: number, error: JsonObject, message: string): UpstreamFailure {
  const { type } = error;
  const details = objectOf(error.details);
  if (isOperatorStatus(status)) return 'operator';
  if (OPERATOR_TYPES.has(type) || SPENT_CODES.has(details.error_code)) return 'operator';
  if (status < 500 && SPENT.test(message)) return 'operator';
  if (status === 429 || type === 'rate_limit_error') return 'rate_limited';
  if (status === 408 || status === 504 || type === 'timeout_error') return 'timeout';
  if (isServerStatus(status) || type === 'overloaded_error') return 'server';
  if (status < 400) return 'unreadable';
  if (status === 413 || type === 'request_too_large') return 'context_length';
  if (TOO_MANY_BYTES.test(message) || isPromptTooLong(message)) return 'context_length';
  return NOT_THIS_MODEL.test(message) ? 'unsupported' : 'caller';
}

/** The field that the vendor's sentence begins with: a path and a colon, or a name in quotes. */
function readParam(message: string): string | undefined {
  const match =
    /^([a-z_]{1,40}(?:\.[\w-]{1,64}){0,12}):/.exec(message) ??
    /^[`"']([a-z_]{1,40}(?:\.[\w-]{1,64}){0,12})[`"']/.exec(message);
  return match?.[1];
}

/**
 * A vendor's JSON object.
 *
 * @param what what it is, for the log
 * @throws UpstreamError `unreadable` for anything else, or as the vendor's own error says
 */
export function parseMessagesJson(text: string, what: string): JsonObject {
  const value = parseAnswerObject(text, what);
  if (value.type === 'error' || isJsonObject(value.error)) throw classifyInlineMessagesError(value);
  return value;
}
