import type { IncomingHttpHeaders } from 'node:http';
import { UpstreamError, type UpstreamFailure } from '../../upstream-error.js';
import {
  readErrorBody,
  isOperatorStatus,
  isServerStatus,
  isPromptTooLong,
  redactKeyLike,
  shownMessage,
} from '../failed-answer.js';
import { readRetryAfterMs } from '../../../platform/http/retry-after.js';
import type { JsonObject } from '../../../platform/http/json-body.js';

/** 429s that waiting does not mend: the account has no credit left. */
const QUOTA_CODES = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'account_deactivated',
  'exceeded_current_quota_error',
]);

/** What is the operator's to mend even where a server calls it a bad request. */
const OPERATOR_CODES = new Set([
  'invalid_api_key',
  'model_not_found',
  'DeploymentNotFound',
  // The deployment is of a model that does not chat.
  'OperationNotSupported',
]);

/** Some servers call a bad request what others call unauthorized. */
const KEY_REFUSED = /\b(?:incorrect|invalid) api key\b|\bapi key not (?:valid|found)\b/i;

/** The vendor's filter took offence at the prompt, which it names by a word that is no field's. */
const CONTENT_FILTER = 'content_filter';

/** The status that a code or type stands for, in an answer that began with status 200. */
const STATUS_OF_CODE: ReadonlyMap<unknown, number> = new Map([
  ['rate_limit_exceeded', 429],
  ['rate_limit_error', 429],
  ['context_length_exceeded', 400],
  ['invalid_request_error', 400],
  [CONTENT_FILTER, 400],
]);

/**
 * Whose fault a failed answer in OpenAI's error shape is, and what can be done about it.
 *
 * @param known whose it is, where the server's own code has said so
 */
export function classifyChatError(
  status: number,
  headers: IncomingHttpHeaders,
  body: unknown,
  known?: UpstreamFailure,
): UpstreamError {
  const error = readErrorBody(body);
  const code = typeof error.code === 'string' ? error.code : undefined;
  const type = typeof error.type === 'string' ? error.type : undefined;
  const message = typeof error.message === 'string' ? error.message : `status ${status}`;
  const retryAfterMs = readRetryAfterMs(headers);
  const param = code === CONTENT_FILTER ? 'messages' : error.param;
  return new UpstreamError({
    failure: known ?? classify(status, code, type, message),
    status,
    message: shownMessage(message),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(typeof param === 'string' && param !== '' && { param: redactKeyLike(param) }),
  });
}

/** An error that came inside an answer with status 200; the status it stands for may be in `code`. */
export function classifyInlineChatError(body: unknown): UpstreamError {
  const { code, type } = readErrorBody(body);
  const status = Number(code);
  const spelledOut = STATUS_OF_CODE.get(code) ?? STATUS_OF_CODE.get(type) ?? 500;
  return classifyChatError(status >= 400 && status < 600 ? status : spelledOut, {}, body);
}

function classify(
  status: number,
  code: string | undefined,
  type: string | undefined,
  message: string,
): UpstreamFailure {
  if (isOperatorStatus(status)) return 'operator';
  if (QUOTA_CODES.has(code ?? '') || QUOTA_CODES.has(type ?? '')) return 'operator';
  if (OPERATOR_CODES.has(code ?? '')) return 'operator';
  if (status === 429) return 'rate_limited';
  if (status === 408 || status === 504) return 'timeout';
  if (isServerStatus(status)) return 'server';
  if (status < 400) return 'unreadable';
  if (status === 413) return 'context_length';
  if (KEY_REFUSED.test(message)) return 'operator';
  if (code === 'context_length_exceeded' || isPromptTooLong(message)) return 'context_length';
  return 'caller';
}

/** Finish reasons that say that the server failed in the middle of the answer. */
const FAILED_REASONS: ReadonlySet<unknown> = new Set([
  'error',
  'network_error',
  'insufficient_system_resource',
]);

/**
 * Some gateways tell a failure inside a choice, as its `error` or by its finish reason alone, in an
 * answer that otherwise looks like one.
 *
 * @throws UpstreamError what the choice says
 */
export function assertNotFailed(choice: JsonObject): void {
  if (choice.error != null || FAILED_REASONS.has(choice.finish_reason)) {
    throw classifyInlineChatError({ error: choice.error ?? {} });
  }
}

/** Whether every choice that a stream began has its finish reason. */
export function haveFinished(begunChoices: number, finishedChoices: number): boolean {
  return finishedChoices > 0 && finishedChoices >= begunChoices;
}

/**
 * A stream is complete when every choice that it began has its finish reason, and one at least has;
 * `[DONE]` alone proves nothing, and its absence neither.
 *
 * @throws UpstreamError `cut`
 */
export function assertFinished(begunChoices: number, finishedChoices: number): void {
  if (haveFinished(begunChoices, finishedChoices)) return;
  throw new UpstreamError({ failure: 'cut', message: 'the stream ended without a finish reason' });
}
