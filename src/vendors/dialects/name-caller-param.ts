import type { Dialect } from '../../canonical/canonical-request.js';
import { namesRead, PROMPT_FIELDS } from '../../canonical/prompt-field-table.js';
import { conversationField, fieldName } from '../../canonical/prompt-fields.js';
import { UpstreamError } from '../upstream-error.js';

const DIALECTS: readonly Dialect[] = ['chat', 'messages', 'responses'];

/** Fields by all their names in all dialects. */
const FIELDS = new Map(
  PROMPT_FIELDS.flatMap((field) =>
    DIALECTS.flatMap((dialect) => namesRead(dialect, field).map((name) => [name, field] as const)),
  ),
);

const CONVERSATION: ReadonlySet<string> = new Set(['messages', 'input']);
const OUTPUT_LIMITS: ReadonlySet<string> = new Set([
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
]);
const OUTPUT_LIMIT: Record<Dialect, string> = {
  chat: 'max_tokens',
  messages: 'max_tokens',
  responses: 'max_output_tokens',
};
const SYSTEM: Record<Dialect, string> = {
  chat: 'messages',
  messages: 'system',
  responses: 'instructions',
};

/**
 * Renames the field in an error of a translated request to the caller's name for it. Paths within a field
 * refer to the translation and would mislead, so they are omitted. Not for relayed requests, where the
 * vendor already uses the caller's names.
 */
export function nameCallerParam(error: unknown, dialect: Dialect): unknown {
  if (!(error instanceof UpstreamError) || error.param === undefined) return error;
  const { failure, message, status, retryAfterMs, param, accepted } = error;
  return new UpstreamError(
    { failure, message, status, retryAfterMs, param: translate(param, dialect), accepted },
    { cause: error.cause },
  );
}

function translate(param: string, dialect: Dialect): string {
  const [top = param, second] = param.split(/[.[]/);
  const field = FIELDS.get(`${top}.${second}`) ?? FIELDS.get(top);
  if (field) return fieldName(dialect, field);
  if (CONVERSATION.has(top)) return conversationField(dialect);
  if (OUTPUT_LIMITS.has(top)) return OUTPUT_LIMIT[dialect];
  return top === 'system' ? SYSTEM[dialect] : top;
}
