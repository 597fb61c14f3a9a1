import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { relayedEvents } from './relayed-events.js';
import type { TextBudget, TraceMessage, TracePart } from './trace-message.js';

/** More choices or tool calls than any vendor gives. */
const MAX_CHOICES = 128;
const MAX_CALLS = 1_000;

/** The conventions' word for an answer without an end, which their schema asks for. */
const BROKEN_OFF = 'error';

interface OpenMessage {
  texts: { type: 'text' | 'reasoning' | 'refusal'; content: string }[];
  calls: Map<number, { id: string; name: string; arguments: string }>;
  finishReason: string | undefined;
}

/**
 * What a model answered, one message for each choice.
 *
 * @param streamed whether relayed bytes are server-sent events
 * @param finishReasons of the choices, for those of which the events kept here do not tell it
 */
export function outputMessages(
  events: readonly CanonicalEvent[],
  streamed: boolean,
  budget: TextBudget,
  finishReasons: readonly string[] = [],
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
  return [...choices.values()].map((message, index) =>
    close(message, budget, message.finishReason ?? finishReasons[index]),
  );
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

function close(
  { texts, calls }: OpenMessage,
  budget: TextBudget,
  finishReason = BROKEN_OFF,
): TraceMessage {
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
    finish_reason: finishReason === 'tool_calls' ? 'tool_call' : finishReason,
  };
}
