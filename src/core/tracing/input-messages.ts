import type {
  CanonicalRequest,
  MediaSource,
  MessagePart,
} from '../../canonical/canonical-request.js';
import { isTextRequest, type RoutableRequest } from '../../canonical/work-request.js';
import type { BlobPart, TextBudget, TraceMessage, TracePart } from './trace-message.js';

/** Most messages to record; the oldest are dropped. */
const MAX_MESSAGES = 1_000;

export interface TraceInput {
  /** Instructions outside the conversation: `system` in messages, `instructions` in responses. */
  readonly instructions: TracePart[];
  /** A conversation, or texts to embed or to speak. */
  readonly messages: TraceMessage[];
}

/** Called with omitted base64 data; may add details to the note. */
export type NoteMedia = (note: BlobPart, base64: string) => void;

/** Returns the prompt, cut to the budget. */
export function traceInput(
  request: RoutableRequest,
  budget: TextBudget,
  noteMedia?: NoteMedia,
): TraceInput {
  if (!isTextRequest(request)) {
    const messages = textsOf(request.body.value).map(toUserMessage(budget));
    return { instructions: [], messages };
  }
  const { messages } = request.prompt();
  const [first] = messages;
  const isApart = first?.role === 'system' && hasInstructions(request);
  const conversation = isApart ? messages.slice(1) : messages;
  if (conversation.length > MAX_MESSAGES) budget.isSpent = true;
  return {
    instructions: isApart ? first.parts.map((part) => toPart(part, budget, noteMedia)) : [],
    messages: conversation.slice(-MAX_MESSAGES).map(({ role, parts }) => ({
      role,
      parts: parts.map((part) => toPart(part, budget, noteMedia)),
    })),
  };
}

/** Returns whether the first canonical message came from a separate body field. */
function hasInstructions({ dialect, body: { value } }: CanonicalRequest): boolean {
  if (dialect === 'messages') return value.system != null;
  return dialect === 'responses' && typeof value.instructions === 'string';
}

function textsOf({ input, prompt }: Readonly<Record<string, unknown>>): string[] {
  const given: unknown[] = Array.isArray(input) ? input : [input ?? prompt];
  return given.filter((text) => typeof text === 'string').slice(0, MAX_MESSAGES);
}

function toUserMessage(budget: TextBudget): (text: string) => TraceMessage {
  return (text) => ({ role: 'user', parts: [{ type: 'text', content: budget.take(text) }] });
}

function toPart(
  part: MessagePart,
  budget: TextBudget,
  noteMedia: NoteMedia | undefined,
): TracePart {
  switch (part.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return { type: part.type, content: budget.take(part.text) };
    case 'image':
      return toMedia('image', part.source, budget, noteMedia);
    case 'document':
      return toMedia('document', part.source, budget, noteMedia);
    case 'audio':
      return toBlob('audio', `audio/${part.format}`, part.data, noteMedia);
    case 'tool_call':
      return {
        type: 'tool_call',
        id: budget.take(part.id),
        name: budget.take(part.name),
        arguments: budget.take(part.arguments),
      };
    case 'tool_result': {
      const texts = part.parts.map((each) => (each.type === 'text' ? each.text : `[${each.type}]`));
      return {
        type: 'tool_call_response',
        id: budget.take(part.toolCallId),
        response: budget.take(texts.join('\n')),
      };
    }
  }
}

function toMedia(
  modality: string,
  source: MediaSource,
  budget: TextBudget,
  noteMedia: NoteMedia | undefined,
): TracePart {
  if (source.kind === 'url') return { type: 'uri', modality, uri: budget.take(source.url) };
  return toBlob(modality, budget.take(source.mediaType), source.data, noteMedia);
}

function toBlob(
  modality: string,
  mimeType: string,
  base64: string,
  noteMedia: NoteMedia | undefined,
): BlobPart {
  const type = 'blob';
  const blob: BlobPart = { type, modality, mime_type: mimeType, content: '', omitted: true };
  if (!noteMedia) return blob;
  blob.bytes = Buffer.byteLength(base64, 'base64');
  noteMedia(blob, base64);
  return blob;
}
