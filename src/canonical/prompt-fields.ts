import type { CanonicalPrompt, CanonicalRequest, Dialect } from './canonical-request.js';
import { isSampling, namesRead, PROMPT_FIELDS, type PromptField } from './prompt-field-table.js';

/** The names for headers and errors. A dialect without the field uses the chat dialect's name. */
const NAMES: Record<Dialect, Record<PromptField, string>> = {
  chat: namesOf('chat'),
  messages: namesOf('messages'),
  responses: namesOf('responses'),
};

function namesOf(dialect: Dialect): Record<PromptField, string> {
  const names = PROMPT_FIELDS.map((field) => {
    const [name] = [...namesRead(dialect, field), ...namesRead('chat', field)];
    return [field, name ?? field];
  });
  return Object.fromEntries(names) as Record<PromptField, string>;
}

/** Returns a field's name in the caller's dialect. */
export function fieldName(dialect: Dialect, field: PromptField): string {
  return NAMES[dialect][field];
}

/** Returns the dialect's name for the conversation, for errors. */
export function conversationField(dialect: Dialect): 'messages' | 'input' {
  return dialect === 'responses' ? 'input' : 'messages';
}

/**
 * Lists the request's fields that a vendor does not support, by the caller's names, including those that
 * the canonical form cannot express.
 *
 * @param supported the fields that the vendor's dialect supports
 */
export function unsupportedFields(
  request: CanonicalRequest,
  supported: ReadonlySet<PromptField>,
): string[] {
  const prompt = request.prompt();
  const names = NAMES[request.dialect];
  const dropped = PROMPT_FIELDS.filter(
    (field) => !supported.has(field) && isSet(prompt, field),
  ).map((field) => names[field]);
  return [...dropped, ...prompt.droppedFields];
}

function isSet(prompt: CanonicalPrompt, field: PromptField): boolean {
  return (isSampling(field) ? prompt.sampling[field] : prompt[field]) !== undefined;
}
