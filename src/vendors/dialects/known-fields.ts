import type { JsonBody, JsonObject } from '../../platform/http/json-body.js';

/**
 * Fields of a chat body that every server of the dialect may be sent: those that its maker documents,
 * and the samplers that most servers know. None costs what the catalogue has no price for.
 */
export const CHAT_FIELDS: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'stream', 'stream_options', 'n', 'stop', 'seed', 'user', 'metadata'],
  ...['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k', 'min_p'],
  ...['frequency_penalty', 'presence_penalty', 'repetition_penalty'],
  ...['logit_bias', 'logprobs', 'top_logprobs', 'response_format', 'modalities', 'audio'],
  ...['tools', 'tool_choice', 'parallel_tool_calls', 'functions', 'function_call'],
  ...['reasoning_effort', 'verbosity', 'prediction', 'web_search_options'],
  ...['store', 'service_tier', 'prompt_cache_key', 'prompt_cache_retention', 'safety_identifier'],
]);

/** The same of a Responses body. */
export const RESPONSES_FIELDS: ReadonlySet<string> = new Set([
  ...['model', 'input', 'instructions', 'stream', 'stream_options', 'store', 'include', 'user'],
  ...['max_output_tokens', 'max_tool_calls', 'temperature', 'top_p', 'top_logprobs', 'text'],
  ...['tools', 'tool_choice', 'parallel_tool_calls', 'reasoning', 'truncation', 'service_tier'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'safety_identifier'],
  ...['background', 'conversation', 'prompt', 'context_management'],
]);

/** The same of an embeddings body. */
export const EMBEDDINGS_FIELDS: ReadonlySet<string> = new Set([
  ...['model', 'input', 'encoding_format', 'dimensions', 'user', 'service_tier'],
]);

/** Callers make names up; one that is unlike a field's is not repeated in a header. */
const FIELD_NAME = /^[a-z][a-z0-9_]{0,49}$/i;
/** Only `null` begins with it. */
const LETTER_N = 0x6e;
const MAX_DROPPED = 32;

/** Takes what is not known out of the body that is to be sent. */
export function dropUnknown(
  value: JsonObject,
  known: ReadonlySet<string>,
  edits: Map<string, string | undefined>,
): void {
  for (const field of Object.keys(value)) if (!known.has(field)) edits.set(field, undefined);
}

/** What `dropUnknown` takes out, without the gateway's own fields, as a header names it. */
export function nameUnknown(
  { bytes, members }: Pick<JsonBody, 'bytes' | 'members'>,
  known: ReadonlySet<string>,
  gatewayFields: readonly string[],
): string[] {
  const isNull = (valueStart: number): boolean => bytes[valueStart] === LETTER_N;
  return nameDropped(
    members
      .filter(({ key, valueStart }) => !known.has(key) && !isNull(valueStart))
      .map(({ key }) => key)
      .filter((key) => !gatewayFields.includes(key)),
  );
}

/** Names of fields, fit for a header, without repeats. */
export function nameDropped(fields: readonly string[]): string[] {
  const names = fields.map((field) => (FIELD_NAME.test(field) ? field : 'unknown'));
  return [...new Set(names)].slice(0, MAX_DROPPED);
}
