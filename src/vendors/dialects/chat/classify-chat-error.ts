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

/** 429s that waiting does not fix: the account has no credit left. */
const QUOTA_CODES = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'account_deactivated',
  'exceeded_current_quota_error',
]);

/** Codes that the operator must act on, even when a server reports a bad request. */
const OPERATOR_CODES = new Set([
  'invalid_api_key',
  'model_not_found',
  'DeploymentNotFound',
  // The deployed model is not a chat model.
  'OperationNotSupported',
]);

/** Some servers report an invalid key as a bad request. */
const KEY_REFUSED = /\b(?:incorrect|invalid) api key\b|\bapi key not (?:valid|found)\b/i;

/** The vendor's content filter rejected the prompt; it reports a name that is not a field. */
const CONTENT_FILTER = 'content_filter';

/** Equivalent statuses of codes and types in an answer with status 200. */
const STATUS_OF_CODE: ReadonlyMap<unknown, number> = new Map([
  ['rate_limit_exceeded', 429],
  ['rate_limit_error', 429],
  ['context_length_exceeded', 400],
  ['invalid_request_error', 400],
  [CONTENT_FILTER, 400],
]);

/**
 * Classifies a failed answer in OpenAI's error format.
 *
 * @param known the failure, when the server's own code determines it
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

/** Classifies an error inside an answer with status 200; its `code` may be the actual status. */
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

/** Finish reasons for a server failure during the answer. */
const FAILED_REASONS: ReadonlySet<unknown> = new Set([
  'error',
  'network_error',
  'insufficient_system_resource',
]);

/**
 * Checks a choice for failures. Some gateways report them in its `error`, or just by its finish reason, in
 * an otherwise normal answer.
 *
 * @throws UpstreamError
 */
export function assertNotFailed(choice: JsonObject): void {
  if (choice.error != null || FAILED_REASONS.has(choice.finish_reason)) {
    throw classifyInlineChatError({ error: choice.error ?? {} });
  }
}

/** Returns whether every choice that a stream began has its finish reason. */
export function haveFinished(startedChoices: number, finishedChoices: number): boolean {
  return finishedChoices > 0 && finishedChoices >= startedChoices;
}

/**
 * Checks that a stream is complete: at least one choice began, and each has its finish reason. `[DONE]`
 * says nothing either way.
 *
 * @throws UpstreamError `cut`
 */
export function assertFinished(startedChoices: number, finishedChoices: number): void {
  if (haveFinished(startedChoices, finishedChoices)) return;
  throw new UpstreamError({ failure: 'cut', message: 'the stream ended without a finish reason' });
}
