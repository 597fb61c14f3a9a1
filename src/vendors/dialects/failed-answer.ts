import type { IncomingHttpHeaders } from 'node:http';
import { CallAbortedError, type UpstreamResponse } from '../transport/upstream-response.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { MediaFailedError } from '../media-work.js';
import { UpstreamError } from '../upstream-error.js';
import { listOf, parseAnswerJson } from './answer-json.js';

/** Shorter ones are stand-ins for servers that need no key, and may be any word. */
const MIN_KEY_LENGTH = 8;

/** Of a vendor's message in an answer of ours. */
const MAX_MESSAGE_LENGTH = 1_000;

/**
 * What vendors spell keys like. Their messages are passed on to callers, an echoed key is not. The
 * look-ahead keeps field names such as `key_parameters`, and is bounded to stay linear.
 */
const KEY_LIKE = new RegExp(
  [
    String.raw`\b(?:sk|pk|rk|gsk|xai)[-_][\w*.-]{8,}`,
    String.raw`\bkey[-_ ](?=[A-Za-z_.-]{0,40}[\d*])[\w*.-]{8,}`,
    String.raw`\bBearer\s+[\w*.~+/=-]{8,}`,
    String.raw`\bAIza[\w-]{20,}`,
  ].join('|'),
  'gi',
);

/**
 * Ways in which servers of the common APIs say that a prompt does not fit into a model. Few of them
 * give it a code of its own, so it is told by their words. Output limits and rates of tokens, which
 * are spelled much alike, must not be taken for it.
 */
const WORDINGS: readonly RegExp[] = [
  // OpenAI, vLLM, SGLang, llama.cpp, LM Studio, MiniMax, Mistral and most others
  /\bcontext[_ ](?:length|limit|size|window)\b|exceed_context_size/i,
  // vLLM before the prompt is counted; xAI
  /maximum (?:model|prompt|(?:allowed )?input) length/i,
  // Anthropic, Bedrock
  /(?:prompt|input)(?: is)? too long/i,
  // Google
  /input token count|exceeds the maximum number of (?:input )?tokens/i,
  // Groq, Cerebras
  /reduce the length of (?:the|your) (?:messages|prompt|input)/i,
  // Moonshot, GitHub
  /exceeded model token limit|token count of [\d,]+ exceeds/i,
  // OpenAI's newer models
  /input tokens exceed/i,
  // Cohere
  /too many tokens: total number of tokens in the prompt/i,
  // Hugging Face's servers
  /`inputs` (?:tokens \+ `max_new_tokens` must be|must have less than)/i,
  // Alibaba, Zhipu
  /range of input length should be|prompt exceeds max(?:imum)? length/i,
];

/** Our account or our catalogue is at fault, also where a model was taken away (410). */
const OPERATOR_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 410]);

/** Like a 5xx: a conflict, an early repetition (425), and Groq's word for being full (498). */
const SERVER_STATUSES: ReadonlySet<number> = new Set([409, 425, 498]);

const MAX_ERROR_BYTES = 256 * 1024;
/** An error within a stream may be longer, and a key of some MB is too long for the pattern. */
const MAX_TEXT = 256 * 1024;

/** How a dialect reads a failed answer; `body` is undefined where it is no JSON. */
export type ClassifyError = (
  status: number,
  headers: IncomingHttpHeaders,
  body: unknown,
) => UpstreamError;

/**
 * What a vendor's answer with an error status says.
 *
 * @throws CallAbortedError when nobody waits for it any more
 */
export async function readFailedAnswer(
  response: UpstreamResponse,
  classify: ClassifyError,
): Promise<UpstreamError> {
  let body: unknown;
  try {
    const text = (await response.readAll(MAX_ERROR_BYTES)).toString('utf8');
    body = parseAnswerJson(text, 'an error');
  } catch (error) {
    if (error instanceof CallAbortedError) throw error;
    // A proxy's HTML page, say, or one that breaks off: the status has to do.
  }
  return classify(response.status, response.headers, body);
}

/**
 * The error that a body holds: `{error: {…}}`, or what compatible servers make of it,
 * `{error: "…"}`, `{message: "…"}`, FastAPI's `{detail: "…"}` and `{detail: [{loc, msg}]}`, also as
 * the `message`, and Google's `[{error: {…}}]`. Empty for any other body.
 */
export function readErrorBody(body: unknown): JsonObject {
  const whole: unknown = Array.isArray(body) ? body[0] : body;
  if (!isJsonObject(whole)) return {};
  if (isJsonObject(whole.error)) return whole.error;
  if (typeof whole.error === 'string') return { ...whole, message: whole.error };
  if (isJsonObject(whole.message)) return { ...whole, ...readDetail(whole.message.detail) };
  return whole.message === undefined && whole.detail != null ? readDetail(whole.detail) : whole;
}

function readDetail(detail: unknown): JsonObject {
  const first: unknown = Array.isArray(detail) ? detail[0] : detail;
  if (!isJsonObject(first)) return { message: first };
  const place = listOf(first.loc);
  const path = place.filter((step) => step !== 'body').join('.');
  return { message: first.msg, ...(path !== '' && { param: path }) };
}

/** Whether a vendor's status says that the operator has something to mend, whatever the body says. */
export function isOperatorStatus(status: number): boolean {
  return OPERATOR_STATUSES.has(status);
}

/** Whether a vendor's status says that the vendor failed, time-outs apart. */
export function isServerStatus(status: number): boolean {
  return status >= 500 || SERVER_STATUSES.has(status);
}

/** Whether a server's message says that the prompt is too long for the model. */
export function isPromptTooLong(message: string): boolean {
  return WORDINGS.some((wording) => wording.test(message));
}

/** A vendor's text without whatever in it is spelled like a key. */
export function redactKeyLike(text: string): string {
  return text.slice(0, MAX_TEXT).replace(KEY_LIKE, '[redacted]');
}

/** A vendor's message as callers may read it: without keys, and not too long. */
export function shownMessage(message: string): string {
  return redactKeyLike(message).slice(0, MAX_MESSAGE_LENGTH);
}

/**
 * What was thrown, without the key that the call was made with: callers and the log read what
 * vendors say of a failure, which may repeat it.
 */
export function redactKey(error: unknown, apiKey: string | undefined): unknown {
  if (apiKey === undefined || apiKey.length < MIN_KEY_LENGTH) return error;
  if (error instanceof UpstreamError) return error.without(apiKey);
  if (!(error instanceof MediaFailedError)) return error;
  return new MediaFailedError(error.code, error.message.replaceAll(apiKey, '[redacted]'));
}
