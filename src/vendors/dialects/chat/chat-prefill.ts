import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';

/**
 * How a server of the chat dialect is told to go on with the conversation's last turn, the assistant's:
 * `prefix` and `partial` by a mark on that turn, `continue_final_message` by a field of the body, and
 * `plain` goes on by itself. Servers of which nothing is said answer it.
 */
export const PREFILLS = ['prefix', 'partial', 'continue_final_message', 'plain'] as const;
export type Prefill = (typeof PREFILLS)[number];

/** What a body needs beside its messages; without the second field servers refuse the first. */
const BODY_FIELDS: Partial<Record<Prefill, Readonly<Record<string, boolean>>>> = {
  continue_final_message: { continue_final_message: true, add_generation_prompt: false },
};

export function isPrefill(value: unknown): value is Prefill {
  return PREFILLS.some((prefill) => prefill === value);
}

/** Fields that have the server go on with the last of the messages. */
export function prefillFields(messages: readonly unknown[], prefill: Prefill): JsonObject {
  const last = messages.at(-1);
  const isMarked = prefill === 'prefix' || prefill === 'partial';
  const marked = isMarked && isJsonObject(last) ? { ...last, [prefill]: true } : last;
  return { messages: [...messages.slice(0, -1), marked], ...BODY_FIELDS[prefill] };
}
