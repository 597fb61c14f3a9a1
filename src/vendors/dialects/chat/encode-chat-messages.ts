import type {
  CanonicalMessage,
  MessagePart,
  ToolCallPart,
  ToolResultPart,
  AudioPart,
  DocumentPart,
  ImagePart,
  MediaSource,
  TextPart,
} from '../../../canonical/canonical-request.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { unsupported } from '../../upstream-error.js';
import { mapToolId } from '../tool-calls.js';

const NO_PART_TYPES: readonly MessagePart['type'][] = [
  'refusal',
  'reasoning',
  'tool_call',
  'tool_result',
];

/** OpenAI's limit on tool call ids. */
const MAX_TOOL_ID_LENGTH = 40;

/**
 * Encodes the conversation as chat messages.
 *
 * A `tool` message can only contain text, and nothing may come between the calls and their results. So
 * images and documents of tool results follow in a user message after all results of the turn. Reasoning
 * of earlier turns is omitted, except for servers that require it back.
 *
 * @param field the conversation's field in the caller's dialect, for errors
 * @param keepsReasoning whether the server requires reasoning back
 * @throws UpstreamError `unsupported` for content that the dialect cannot express
 */
export function encodeChatMessages(
  messages: readonly CanonicalMessage[],
  field: string,
  keepsReasoning = false,
): JsonObject[] {
  const encoded: JsonObject[] = [];
  let attachments: JsonObject[] = [];
  const push = (message: JsonObject): void => {
    if (attachments.length > 0) encoded.push({ role: 'user', content: attachments });
    attachments = [];
    encoded.push(message);
  };

  for (const message of messages) {
    const results = message.parts.filter((part) => part.type === 'tool_result');
    for (const result of results) {
      encoded.push(encodeToolResult(result));
      attachments.push(...encodeAttachments(result, field));
    }
    if (results.length === 0 || results.length < message.parts.length) {
      push(encodeMessage(message, field, keepsReasoning));
    }
  }
  if (attachments.length > 0) encoded.push({ role: 'user', content: attachments });
  return encoded;
}

/** This dialect has no error flag for tool results, so the text says it. */
function encodeToolResult({ toolCallId, parts, isError }: ToolResultPart): JsonObject {
  const text = parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n');
  return {
    role: 'tool',
    tool_call_id: mapToolId(toolCallId, MAX_TOOL_ID_LENGTH),
    content: isError ? `Error: ${text}` : text,
  };
}

function encodeAttachments({ toolCallId, parts }: ToolResultPart, field: string): JsonObject[] {
  const media = parts.filter((part) => part.type !== 'text');
  if (media.length === 0) return [];
  const id = mapToolId(toolCallId, MAX_TOOL_ID_LENGTH);
  const title = { type: 'text', text: `From the result of tool call ${id}:` };
  return [title, ...media.map((part) => encodeChatPart(part, field))];
}

function encodeMessage(
  { role, name, parts }: CanonicalMessage,
  field: string,
  keepsReasoning: boolean,
): JsonObject {
  if (role === 'assistant') {
    const turn = encodeAssistant(name, parts, field);
    const thought = keepsReasoning ? reasoningOf(parts) : '';
    return thought === '' ? turn : { ...turn, reasoning_content: thought };
  }
  const spoken = parts.filter(isSpoken);
  if (role === 'system' && spoken.some((part) => part.type !== 'text')) {
    throw unsupported(field, 'Instructions to this model can contain only text.');
  }
  return {
    role: role === 'system' ? 'system' : 'user',
    content: encodeChatContent(spoken, field),
    name,
  };
}

function encodeAssistant(
  name: string | undefined,
  parts: readonly MessagePart[],
  field: string,
): JsonObject {
  if (parts.some((part) => isSpoken(part) && part.type !== 'text')) {
    throw unsupported(
      field,
      'Assistant messages to this model can contain only text and tool calls.',
    );
  }
  const textOf = (type: 'text' | 'refusal'): string =>
    parts.map((part) => (part.type === type ? part.text : '')).join('');
  const calls = parts.filter((part) => part.type === 'tool_call').map(encodeToolCall);
  const text = textOf('text');
  const refusal = textOf('refusal');
  const hasInstead = calls.length > 0 || refusal !== '';
  return {
    role: 'assistant',
    content: text === '' && hasInstead ? null : text,
    name,
    ...(refusal !== '' && { refusal }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** Excludes signed and encrypted reasoning, which belongs to other vendors. */
function reasoningOf(parts: readonly MessagePart[]): string {
  return parts
    .map((part) => (part.type === 'reasoning' && part.signature === undefined ? part.text : ''))
    .join('');
}

function encodeToolCall(call: ToolCallPart): JsonObject {
  return {
    id: mapToolId(call.id, MAX_TOOL_ID_LENGTH),
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  };
}

/** Parts of a user message in the chat dialect. */
type SpokenPart = TextPart | ImagePart | DocumentPart | AudioPart;

function isSpoken(part: MessagePart): part is SpokenPart {
  return !NO_PART_TYPES.includes(part.type);
}

/** Encodes a message's content: a plain string for a single text, which every server supports. */
function encodeChatContent(parts: readonly SpokenPart[], field: string): unknown {
  const [first] = parts;
  if (first === undefined) return '';
  if (parts.length === 1 && first.type === 'text') return first.text;
  return parts.map((part) => encodeChatPart(part, field));
}

/**
 * @param field the conversation's field in the caller's dialect, for errors
 * @throws UpstreamError `unsupported` for a document that the dialect cannot express
 */
function encodeChatPart(part: SpokenPart, field: string): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image_url', image_url: { url: urlOf(part.source), detail: part.detail } };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
    case 'document':
      return encodeDocument(part, field);
  }
}

/** Sends plain-text files as text, which models without file support can read too. */
function encodeDocument({ source, filename }: DocumentPart, field: string): JsonObject {
  if (source.kind === 'url') {
    throw unsupported(field, 'This model accepts documents only as inline data, not by URL.');
  }
  if (source.mediaType.startsWith('text/')) {
    const text = Buffer.from(source.data, 'base64').toString('utf8');
    return { type: 'text', text: filename === undefined ? text : `${filename}\n\n${text}` };
  }
  const name = filename ?? `document.${source.mediaType.split('/').at(-1)}`;
  return { type: 'file', file: { filename: name, file_data: urlOf(source) } };
}

function urlOf(source: MediaSource): string {
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
}
