import type { CanonicalEvent, RelayEvent } from '../../canonical/canonical-event.js';
import type { RecordedTrace } from './recorded-trace.js';
import type { TextBudget, TraceMessage, TracePart } from './trace-message.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { ChatStreamDecoder } from '../../vendors/dialects/chat/chat-stream-decoder.js';
import { decodeChatAnswer } from '../../vendors/dialects/chat/decode-chat-answer.js';
import { decodeMessagesAnswer } from '../../vendors/dialects/messages/read-messages-answer.js';
import { MessagesStreamDecoder } from '../../vendors/dialects/messages/messages-stream-decoder.js';
import {
  isTextRequest,
  type RoutableRequest,
  type Transcript,
  type TranscriptionRequest,
} from '../../canonical/work-request.js';
import { transcriptTexts } from '../../vendors/dialects/audio/transcript.js';

/** Reasoning is only shown, so its signer does not matter. */
const MESSAGES = { signatureIssuer: '', jsonTool: undefined };

/** More choices or tool calls than any vendor returns. */
const MAX_CHOICES = 128;
const MAX_CALLS = 1_000;

/** Finish reason that the conventions require for an incomplete answer. */
const INCOMPLETE = 'error';

interface OpenMessage {
  texts: { type: 'text' | 'reasoning' | 'refusal'; content: string }[];
  calls: Map<number, { id: string; name: string; arguments: string }>;
  finishReason: string | undefined;
}

/**
 * Returns the model's answer, one message per choice.
 *
 * @param streamed whether relayed bytes are server-sent events
 * @param finishReasons of the choices, for those without a finish event here
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
  finishReason = INCOMPLETE,
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

/** Decodes relayed bytes as far as possible. */
function relayedEvents(relays: readonly RelayEvent[], streamed: boolean): CanonicalEvent[] {
  const [first] = relays;
  if (!first) return [];
  try {
    if (first.dialect === 'responses') return readResponse(relays, streamed);
    if (!streamed) {
      return first.dialect === 'chat'
        ? decodeChatAnswer(first.bytes)
        : decodeMessagesAnswer(first.bytes, MESSAGES);
    }
    const decoder =
      first.dialect === 'chat' ? new ChatStreamDecoder() : new MessagesStreamDecoder(MESSAGES);
    return relays.flatMap(({ bytes }) => decoder.push(bytes));
  } catch {
    // The vendor's answer is malformed; its caller got it unchanged.
    return [];
  }
}

/**
 * Reads a Responses answer from its final event, which repeats it; an interrupted one from its
 * pieces.
 */
function readResponse(relays: readonly RelayEvent[], streamed: boolean): CanonicalEvent[] {
  const last = relays.at(-1);
  const whole = last?.answer ?? (streamed ? undefined : parse(last?.bytes));
  if (!whole && streamed) return readPieces(relays);
  const items = Array.isArray(whole?.output) ? whole.output.filter(isJsonObject) : [];
  let calls = 0;
  return items.flatMap((item): CanonicalEvent[] => {
    if (item.type === 'function_call' || item.type === 'custom_tool_call') {
      const index = calls++;
      return [
        { type: 'tool_call', choice: 0, index, id: text(item.call_id), name: text(item.name) },
        { type: 'tool_arguments', choice: 0, index, text: text(item.arguments ?? item.input) },
      ];
    }
    const parts = [item.summary, item.content].flatMap((list) =>
      Array.isArray(list) ? list.filter(isJsonObject) : [],
    );
    return parts.map((part) => ({
      type: part.type === 'refusal' ? 'refusal' : item.type === 'reasoning' ? 'reasoning' : 'text',
      choice: 0,
      text: text(part.text ?? part.refusal),
    }));
  });
}

const PIECES: Readonly<Record<string, 'text' | 'reasoning' | 'refusal'>> = {
  'response.output_text.delta': 'text',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_text.delta': 'reasoning',
  'response.refusal.delta': 'refusal',
};

function readPieces(relays: readonly RelayEvent[]): CanonicalEvent[] {
  const lines = relays.flatMap(({ bytes }) => bytes.toString('utf8').split('\n'));
  return lines.flatMap((line): CanonicalEvent[] => {
    if (!line.startsWith('data: {')) return [];
    const event: unknown = JSON.parse(line.slice('data: '.length));
    const type = isJsonObject(event) ? PIECES[text(event.type)] : undefined;
    return type && isJsonObject(event) ? [{ type, choice: 0, text: text(event.delta) }] : [];
  });
}

function parse(bytes: Buffer | undefined): JsonObject | undefined {
  const value: unknown = bytes && JSON.parse(bytes.toString('utf8'));
  return isJsonObject(value) ? value : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns whether the request's output is a `Transcript`. */
export function isTranscription(request: RoutableRequest): request is TranscriptionRequest {
  return !isTextRequest(request) && request.kind === 'transcription';
}

/** Returns the answer to a request as messages: a transcript, or the model's output. */
export function answerMessages(
  { request, answer, streamed }: Pick<RecordedTrace, 'request' | 'answer' | 'streamed'>,
  budget: TextBudget,
): TraceMessage[] {
  return isTranscription(request)
    ? transcriptMessages(request, answer.output, budget)
    : outputMessages(answer.content, streamed, budget, answer.finishReasons);
}

/**
 * Returns a transcript as one message, without subtitle marks.
 *
 * @param output the transcript; undefined when the request failed
 */
export function transcriptMessages(
  { format }: TranscriptionRequest,
  output: unknown,
  budget: TextBudget,
): TraceMessage[] {
  if (!isTranscript(output)) return [];
  const content = budget.take(textOf(output, format));
  return [{ role: 'assistant', parts: [{ type: 'text', content }], finish_reason: 'stop' }];
}

function isTranscript(output: unknown): output is Transcript {
  return typeof output === 'object' && output !== null && 'bytes' in output;
}

function textOf(transcript: Transcript, format: string): string {
  try {
    return transcriptTexts(transcript, format).join('\n').trim();
  } catch {
    // The vendor's JSON is malformed; its caller got it unchanged.
    return '';
  }
}
