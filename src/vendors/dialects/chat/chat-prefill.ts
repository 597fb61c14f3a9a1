import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';

/**
 * How to make a server of the chat dialect continue the conversation's last assistant message: `prefix`
 * and `partial` mark that message, `continue_final_message` is a field of the body, and `plain` needs
 * nothing. Servers without one of these answer the message instead.
 */
export const PREFILLS = ['prefix', 'partial', 'continue_final_message', 'plain'] as const;
export type Prefill = (typeof PREFILLS)[number];

/** Body fields required besides the messages; servers reject the first one without the second. */
const BODY_FIELDS: Partial<Record<Prefill, Readonly<Record<string, boolean>>>> = {
  continue_final_message: { continue_final_message: true, add_generation_prompt: false },
};

export function isPrefill(value: unknown): value is Prefill {
  return PREFILLS.some((prefill) => prefill === value);
}

/** Returns the fields that make the server continue the last message. */
export function prefillFields(messages: readonly unknown[], prefill: Prefill): JsonObject {
  const last = messages.at(-1);
  const isMarked = prefill === 'prefix' || prefill === 'partial';
  const marked = isMarked && isJsonObject(last) ? { ...last, [prefill]: true } : last;
  return { messages: [...messages.slice(0, -1), marked], ...BODY_FIELDS[prefill] };
}
