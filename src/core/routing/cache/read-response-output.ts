import type {
  ReasoningEvent,
  RefusalEvent,
  TextEvent,
  ToolArgumentsEvent,
  ToolCallEvent,
} from '../../../canonical/canonical-event.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';

type OutputEvent = TextEvent | ReasoningEvent | RefusalEvent | ToolCallEvent | ToolArgumentsEvent;

/** Something of an answer that could not be given again. */
class NoCounterpartError extends Error {}

/**
 * What the answer of a Responses vendor says, as events. Seals are left as they stand there, since
 * only callers of the same dialect get them.
 *
 * @param output the answer's items, which are the vendor's own
 * @returns undefined when any of it has no canonical counterpart, and would be missing from then on
 */
export function readResponseOutput(output: unknown): OutputEvent[] | undefined {
  try {
    let calls = 0;
    return objectsOf(output).flatMap((item) => {
      switch (item.type) {
        case 'message':
          return objectsOf(item.content).map(readPart);
        case 'reasoning':
          return [readReasoning(item)];
        case 'function_call':
          return readCall(item, calls++);
        default:
          throw new NoCounterpartError();
      }
    });
  } catch (error) {
    if (error instanceof NoCounterpartError) return undefined;
    throw error;
  }
}

function readPart({ type, text, refusal, annotations, logprobs }: JsonObject): OutputEvent {
  if (type === 'refusal') return { type: 'refusal', choice: 0, text: stringOf(refusal) };
  const isAnnotated = Array.isArray(annotations) && annotations.length > 0;
  if (type !== 'output_text' || isAnnotated) throw new NoCounterpartError();
  const hasLogprobs = Array.isArray(logprobs) && logprobs.length > 0;
  return { type: 'text', choice: 0, text: stringOf(text), ...(hasLogprobs && { logprobs }) };
}

function readReasoning({ summary, content, encrypted_content: seal }: JsonObject): ReasoningEvent {
  const textOf = (parts: unknown): string =>
    objectsOf(parts ?? [])
      .map(({ text }) => stringOf(text))
      .join('\n\n');
  const text = textOf(summary) || textOf(content);
  return { type: 'reasoning', choice: 0, text, ...(seal != null && { seal: stringOf(seal) }) };
}

function readCall(item: JsonObject, index: number): [ToolCallEvent, ToolArgumentsEvent] {
  const id = stringOf(item.call_id);
  const text = stringOf(item.arguments);
  return [
    { type: 'tool_call', choice: 0, index, id, name: stringOf(item.name) },
    { type: 'tool_arguments', choice: 0, index, text },
  ];
}

function objectsOf(value: unknown): JsonObject[] {
  if (!Array.isArray(value) || !value.every(isJsonObject)) throw new NoCounterpartError();
  return value;
}

function stringOf(value: unknown): string {
  if (typeof value !== 'string') throw new NoCounterpartError();
  return value;
}
