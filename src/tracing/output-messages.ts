import type { CanonicalEvent } from '../canonical/canonical-event.js';
import { relayedEvents } from './relayed-events.js';
import type { TextBudget, TraceMessage, TracePart } from './trace-message.js';

/** More choices or tool calls than any vendor gives. */
const MAX_CHOICES = 128;
const MAX_CALLS = 1_000;

interface OpenMessage {
  texts: { type: 'text' | 'reasoning' | 'refusal'; content: string }[];
  calls: Map<number, { id: string; name: string; arguments: string }>;
  finishReason: string | undefined;
}

/**
 * What a model answered, one message for each choice.
 *
 * @param streamed whether relayed bytes are server-sent events
 */
export function outputMessages(
  events: readonly CanonicalEvent[],
  streamed: boolean,
  budget: TextBudget,
): TraceMessage[] {
  const choices = new Map<number, OpenMessage>();
  const relayed = events.filter((event) => event.type === 'relay');
  for (const event of relayed.length > 0 ? relayedEvents(relayed, streamed) : events) {
    if (!('choice' in event) || event.choice >= MAX_CHOICES) continue;
    const message = choices.get(event.choice) ?? {
      texts: [],
      calls: new Map(),
      finishReason: undefined,
    };
    choices.set(event.choice, message);
    add(message, event);
  }
  return [...choices.values()].map((message) => close(message, budget));
}

function add(message: OpenMessage, event: Extract<CanonicalEvent, { choice: number }>): void {
  switch (event.type) {
    case 'text':
    case 'reasoning':
    case 'refusal': {
      const last = message.texts.at(-1);
      if (last?.type === event.type) last.content += event.text;
      else if (event.text !== '') message.texts.push({ type: event.type, content: event.text });
      return;
    }
    case 'tool_call':
      if (message.calls.size >= MAX_CALLS) return;
      message.calls.set(event.index, { id: event.id, name: event.name, arguments: '' });
      return;
    case 'tool_arguments': {
      const call = message.calls.get(event.index);
      if (call) call.arguments += event.text;
      return;
    }
    case 'finish':
      message.finishReason = event.reason;
  }
}

function close({ texts, calls, finishReason }: OpenMessage, budget: TextBudget): TraceMessage {
  const parts: TracePart[] = texts.map(({ type, content }) => ({
    type,
    content: budget.take(content),
  }));
  for (const { id, name, arguments: json } of calls.values()) {
    parts.push({
      type: 'tool_call',
      id: budget.take(id),
      name: budget.take(name),
      arguments: budget.take(json),
    });
  }
  return {
    role: 'assistant',
    parts,
    ...(finishReason !== undefined && { finish_reason: finishReason }),
  };
}
