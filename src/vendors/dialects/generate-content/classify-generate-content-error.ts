import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError, type UpstreamFailure } from '../../upstream-error.js';
import { readRetryAfterMs } from '../../../platform/http/retry-after.js';
import { objectsOf } from '../answer-json.js';

const MAX_MESSAGE_LENGTH = 1_000;

/** HTTP statuses of the canonical codes, for errors inside an answer with status 200. */
const STATUS_OF_CODE: ReadonlyMap<unknown, number> = new Map([
  ['INVALID_ARGUMENT', 400],
  ['FAILED_PRECONDITION', 400],
  ['OUT_OF_RANGE', 400],
  ['UNAUTHENTICATED', 401],
  ['PERMISSION_DENIED', 403],
  ['NOT_FOUND', 404],
  ['ABORTED', 409],
  ['ALREADY_EXISTS', 409],
  ['RESOURCE_EXHAUSTED', 429],
  ['CANCELLED', 499],
  ['INTERNAL', 500],
  ['UNKNOWN', 500],
  ['DATA_LOSS', 500],
  ['UNIMPLEMENTED', 501],
  ['UNAVAILABLE', 503],
  ['DEADLINE_EXCEEDED', 504],
]);

const CONTEXT_LENGTH =
  /exceeds the maximum number of tokens|input token (?:count|limit)|context (?:length|window)|request payload size exceeds/i;

/** A feature that the model lacks; another one may have it. */
const LACKING =
  /\b(?:not|un)[- ]?(?:supported|enabled|available)\b.{0,60}\bmodel\b|\bmodel\b.{0,60}\b(?:not|un)[- ]?(?:supported?|enabled)\b|does not support/i;

/** Errors that the operator must fix, though reported as bad or too many requests. */
const OPERATORS =
  /api key|billing|credits? (?:are|is) depleted|spend(?:ing)? cap|location is not supported|service agents? .{0,200} (?:provisioned|permission)/i;

/** The vendor's credential formats. Messages are passed on to callers, but echoed keys must not be. */
const KEY_LIKE = /\bya29\.[\w-]{8,}|\bAIza[\w-]{20,}|\bBearer\s+[\w*.~+/=-]{8,}/gi;

/** Classifies a failed answer. */
export function classifyGenerateContentError(
  status: number,
  headers: IncomingHttpHeaders,
  body: unknown,
): UpstreamError {
  const error = readError(body);
  const message = typeof error.message === 'string' ? error.message : `status ${status}`;
  const details = objectsOf(error.details);
  const retryAfterMs = readRetryAfterMs(headers) ?? readRetryDelayMs(details);
  return new UpstreamError({
    failure: classify(status, error, message, details),
    status,
    message: message.replace(KEY_LIKE, '[redacted]').slice(0, MAX_MESSAGE_LENGTH),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** Classifies an error inside an answer with status 200. */
export function classifyInlineGenerateContentError(body: unknown): UpstreamError {
  const { code, status } = readError(body);
  const isStatus = typeof code === 'number' && code >= 400 && code < 600;
  return classifyGenerateContentError(
    isStatus ? code : (STATUS_OF_CODE.get(status) ?? 500),
    {},
    body,
  );
}

/** Returns whether a body is an error, alone or, as from some endpoints, in a list. */
export function isGenerateContentError(body: unknown): boolean {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  return isJsonObject(first) && first.error != null;
}

function classify(
  status: number,
  error: JsonObject,
  message: string,
  details: readonly JsonObject[],
): UpstreamFailure {
  if (status === 401 || status === 402 || status === 403 || status === 404) return 'operator';
  if (status === 429)
    return isForToday(details) || OPERATORS.test(message) ? 'operator' : 'rate_limited';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 409 || status === 499 || status >= 500) return 'server';
  if (status < 400) return 'unreadable';
  if (status === 413 || CONTEXT_LENGTH.test(message)) return 'context_length';
  if (OPERATORS.test(message)) return 'operator';
  if (error.status === 'FAILED_PRECONDITION') return 'operator';
  return LACKING.test(message) ? 'unsupported' : 'caller';
}

/** Returns whether a daily quota is used up, which a short wait does not fix. */
function isForToday(details: readonly JsonObject[]): boolean {
  return details.some(
    ({ violations }) =>
      Array.isArray(violations) &&
      violations.some(
        (violation) => isJsonObject(violation) && /per_?day/i.test(String(violation.quotaId)),
      ),
  );
}

/** Reads `RetryInfo.retryDelay`, a text such as `34.4s`. */
function readRetryDelayMs(details: readonly JsonObject[]): number | undefined {
  for (const { retryDelay } of details) {
    const seconds = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(String(retryDelay))?.[1];
    if (seconds !== undefined) return readRetryAfterMs({ 'retry-after': seconds });
  }
  return undefined;
}

function readError(body: unknown): JsonObject {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (!isJsonObject(first)) return {};
  return isJsonObject(first.error) ? first.error : { message: first.error ?? first.message };
}
