import { membersSent } from '../../canonical/prompt-field-table.js';
import type { JsonBody, JsonObject } from '../../platform/http/json-body.js';

/**
 * Chat body fields that any server of the dialect may get: those that OpenAI documents, and the samplers
 * that most servers support. None has a cost that the catalogue does not price.
 */
export const CHAT_FIELDS: ReadonlySet<string> = new Set([
  ...membersSent('chat'),
  ...['model', 'messages', 'stream', 'stream_options', 'n', 'metadata', 'modalities', 'audio'],
  ...['max_tokens', 'max_completion_tokens', 'top_k', 'min_p', 'repetition_penalty'],
  ...['tools', 'functions', 'function_call', 'verbosity', 'prediction', 'web_search_options'],
  ...['store', 'service_tier', 'prompt_cache_key', 'prompt_cache_retention', 'safety_identifier'],
]);

/** The same for a Responses body. */
export const RESPONSES_FIELDS: ReadonlySet<string> = new Set([
  ...membersSent('responses'),
  ...['model', 'input', 'instructions', 'stream', 'stream_options', 'store', 'include'],
  ...['max_output_tokens', 'max_tool_calls', 'tools', 'truncation', 'service_tier'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'safety_identifier'],
  ...['background', 'conversation', 'prompt', 'context_management'],
]);

/** The same for an embeddings body. */
export const EMBEDDINGS_FIELDS: ReadonlySet<string> = new Set([
  ...['model', 'input', 'encoding_format', 'dimensions', 'user', 'service_tier'],
]);

/** Callers can send any name; those that do not look like fields are not echoed in a header. */
const FIELD_NAME = /^[a-z][a-z0-9_]{0,49}$/i;
/** First letter of `null`, the only JSON value that starts with it. */
const LETTER_N = 0x6e;
const MAX_DROPPED = 32;

/** Removes unknown fields from a body to be sent. */
export function dropUnknown(
  value: JsonObject,
  known: ReadonlySet<string>,
  edits: Map<string, string | undefined>,
): void {
  for (const field of Object.keys(value)) if (!known.has(field)) edits.set(field, undefined);
}

/** Names the fields that `dropUnknown` removes, without the gateway's own, for a header. */
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

/** Returns field names fit for a header, without duplicates. */
export function nameDropped(fields: readonly string[]): string[] {
  const names = fields.map((field) => (FIELD_NAME.test(field) ? field : 'unknown'));
  return [...new Set(names)].slice(0, MAX_DROPPED);
}
