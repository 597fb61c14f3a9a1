import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError, type UpstreamFailure } from '../../upstream-error.js';
import { readRetryAfterMs } from '../../../platform/http/retry-after.js';

const MAX_MESSAGE_LENGTH = 1_000;

/** Keyed by the vendor's error name, without its suffix. */
const FAILURES: ReadonlyMap<string, UpstreamFailure> = new Map([
  ['Throttling', 'rate_limited'],
  ['TooManyRequests', 'rate_limited'],
  ['RequestLimitExceeded', 'rate_limited'],
  ['ServiceQuotaExceeded', 'rate_limited'],
  ['ModelNotReady', 'rate_limited'],
  ['ModelTimeout', 'timeout'],
  ['RequestTimeout', 'timeout'],
  ['AccessDenied', 'operator'],
  ['UnrecognizedClient', 'operator'],
  ['ExpiredToken', 'operator'],
  ['InvalidSignature', 'operator'],
  ['SignatureDoesNotMatch', 'operator'],
  ['IncompleteSignature', 'operator'],
  ['InvalidClientTokenId', 'operator'],
  ['MissingAuthenticationToken', 'operator'],
  ['NotAuthorized', 'operator'],
  ['OptInRequired', 'operator'],
  ['ResourceNotFound', 'operator'],
  ['UnknownOperation', 'operator'],
  ['ModelError', 'server'],
  ['ModelStreamError', 'server'],
  ['InternalServer', 'server'],
  ['InternalFailure', 'server'],
  ['ServiceUnavailable', 'server'],
  ['Conflict', 'server'],
]);

const CONTEXT_LENGTH =
  /(?:input|prompt) is too long|too many (?:total text bytes|(?:input )?tokens)|context (?:limit|length|window)|maximum (?:context|input) (?:length|tokens)|exceeds? the (?:maximum|model's) (?:number of )?(?:input )?tokens/i;

/** Bad requests that only the operator can fix: which models the account has, and where. */
const OPERATOR_ERRORS =
  /model identifier is invalid|on-demand throughput|end of its life|isn.t supported in (?:this|the) region|Operation not allowed|inference profile (?:is|was) not found|access to the model/i;

/** The field that a message refers to, by its chat dialect name. */
const PARAMS: readonly [RegExp, string][] = [
  [/output_config|textFormat|outputConfig/, 'response_format'],
  [/toolChoice|tool_choice/, 'tool_choice'],
  [/\btemperature\b/, 'temperature'],
  [/\btop_?[pP]\b/, 'top_p'],
  [/\btop_?[kK]\b/, 'top_k'],
  [/maxTokens|max_tokens/, 'max_tokens'],
  [/stopSequences|stop_sequences/, 'stop'],
  [/\bthinking\b|reasoningConfig|reasoning_effort/, 'reasoning'],
  [/\bmessages\b/, 'messages'],
  [/toolConfig|\btools\b/, 'tools'],
];

/** Classifies a failed answer. */
export function classifyConverseError(
  status: number,
  headers: IncomingHttpHeaders,
  body: unknown,
): UpstreamError {
  const { message, type } = readError(body);
  const name = [headers['x-amzn-errortype']].flat()[0] ?? type;
  const retryAfterMs = readRetryAfterMs(headers);
  return describe(toFailure(name, status, message), message ?? `status ${status}`, {
    status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/**
 * Classifies an error inside an answer with status 200.
 *
 * @param name such as `throttlingException`
 */
export function classifyStreamError(name: string | undefined, body: unknown): UpstreamError {
  const { message } = readError(body);
  return describe(toFailure(name, 500, message), message ?? name ?? 'an error in the stream', {});
}

function describe(
  failure: UpstreamFailure,
  message: string,
  rest: { status?: number; retryAfterMs?: number },
): UpstreamError {
  const param = PARAMS.find(([words]) => words.test(message))?.[1];
  return new UpstreamError({
    failure,
    message: hideAccount(message).slice(0, MAX_MESSAGE_LENGTH),
    ...(failure === 'caller' && param !== undefined && { param }),
    ...rest,
  });
}

function toFailure(
  name: string | undefined,
  status: number,
  message: string | undefined,
): UpstreamFailure {
  const bare = bareName(name);
  if (bare === 'Validation' || bare === 'ValidationError') return judgeRequest(message);
  const known = FAILURES.get(bare);
  if (known) return known;
  if (status === 401 || status === 402 || status === 403 || status === 404) return 'operator';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 413) return 'context_length';
  if (status === 429) return 'rate_limited';
  if (status === 409 || status === 424 || status >= 500) return 'server';
  return status < 400 ? 'unreadable' : judgeRequest(message);
}

function judgeRequest(message = ''): UpstreamFailure {
  if (CONTEXT_LENGTH.test(message)) return 'context_length';
  return OPERATOR_ERRORS.test(message) ? 'operator' : 'caller';
}

/** Reduces `com.amazon.x#ValidationException:http://…` and `validationException` to `Validation`. */
function bareName(name = ''): string {
  const bare = name
    .split(':')[0]!
    .split('#')
    .at(-1)!
    .trim()
    .replace(/Exception$/, '');
  return bare.charAt(0).toUpperCase() + bare.slice(1);
}

function readError(body: unknown): { message?: string; type?: string } {
  if (!isJsonObject(body)) return {};
  const message = body.message ?? body.Message ?? body.originalMessage;
  const type = body.__type ?? body.code;
  return {
    ...(typeof message === 'string' && message !== '' && { message }),
    ...(typeof type === 'string' && { type }),
  };
}

/** Hides the operator's account number and key ids in messages, which callers see. */
function hideAccount(message: string): string {
  return message
    .replace(/\barn:[\w-]+:[\w-]*:[\w-]*:\d*:/g, 'arn:…:')
    .replace(/\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b/g, '[redacted]');
}
