import type { IncomingHttpHeaders } from 'node:http';
import { CallAbortedError, type UpstreamResponse } from '../transport/upstream-response.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { MediaFailedError } from '../media-work.js';
import { UpstreamError } from '../upstream-error.js';
import { listOf, parseAnswerJson } from './answer-json.js';

/** Shorter ones are placeholders for servers without keys, and may be any word. */
const MIN_KEY_LENGTH = 8;

/** Longest vendor message passed on. */
const MAX_MESSAGE_LENGTH = 1_000;

/**
 * Matches texts that look like vendors' keys. Messages are passed on to callers, but echoed keys must not
 * be. The lookahead spares field names such as `key_parameters` and is bounded to stay linear.
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
 * Messages of the common APIs for a prompt beyond the context window. Few servers use an error code for
 * it, so the text decides. Output limits and token rates, which are worded much alike, must not match.
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

/** The operator's account or catalogue is at fault, including retired models (410). */
const OPERATOR_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 410]);

/** Treated like 5xx: a conflict (409), Too Early (425), and Groq's capacity error (498). */
const SERVER_STATUSES: ReadonlySet<number> = new Set([409, 425, 498]);

const MAX_ERROR_BYTES = 256 * 1024;
/** Streamed errors may be longer, but a key of several MB is too long for the pattern. */
const MAX_TEXT = 256 * 1024;

/** Reads a failed answer of a dialect; `body` is undefined when it is not JSON. */
export type ClassifyError = (
  status: number,
  headers: IncomingHttpHeaders,
  body: unknown,
) => UpstreamError;

/**
 * Reads and classifies an answer with an error status.
 *
 * @throws CallAbortedError when the signal fires
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
 * Extracts the error from a body: `{error: {…}}`, or the variants of compatible servers, `{error: "…"}`,
 * `{message: "…"}`, FastAPI's `{detail: "…"}` and `{detail: [{loc, msg}]}`, also inside `message`, and
 * Google's `[{error: {…}}]`. Empty for any other body.
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

/** Returns whether the operator must act on a vendor's status, whatever the body says. */
export function isOperatorStatus(status: number): boolean {
  return OPERATOR_STATUSES.has(status);
}

/** Returns whether a status is a failure of the vendor other than a timeout. */
export function isServerStatus(status: number): boolean {
  return status >= 500 || SERVER_STATUSES.has(status);
}

/** Returns whether a message says that the prompt is too long for the model. */
export function isPromptTooLong(message: string): boolean {
  return WORDINGS.some((wording) => wording.test(message));
}

/** Redacts everything that looks like a key. */
export function redactKeyLike(text: string): string {
  return text.slice(0, MAX_TEXT).replace(KEY_LIKE, '[redacted]');
}

/** Returns a vendor's message safe to show to callers: keys redacted, length limited. */
export function shownMessage(message: string): string {
  return redactKeyLike(message).slice(0, MAX_MESSAGE_LENGTH);
}

/**
 * Redacts the call's key in a thrown error. Callers and the log see vendors' error texts, which may
 * echo it.
 */
export function redactKey(error: unknown, apiKey: string | undefined): unknown {
  if (apiKey === undefined || apiKey.length < MIN_KEY_LENGTH) return error;
  if (error instanceof UpstreamError) return error.without(apiKey);
  if (!(error instanceof MediaFailedError)) return error;
  return new MediaFailedError(error.code, error.message.replaceAll(apiKey, '[redacted]'));
}
