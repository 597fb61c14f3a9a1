import type {
  AudioPart,
  DocumentPart,
  ImagePart,
  MediaSource,
  MessagePart,
  TextPart,
} from '../../../canonical/canonical-request.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError } from '../../upstream-error.js';

/** What a user may say in the chat dialect. */
export type SpokenPart = TextPart | ImagePart | DocumentPart | AudioPart;

const NO_PART_TYPES: readonly MessagePart['type'][] = [
  'refusal',
  'reasoning',
  'tool_call',
  'tool_result',
];

export function isSpoken(part: MessagePart): part is SpokenPart {
  return !NO_PART_TYPES.includes(part.type);
}

/** A message's content: a plain string where one text is all there is, which every server takes. */
export function encodeChatContent(parts: readonly SpokenPart[], field: string): unknown {
  const [first] = parts;
  if (first === undefined) return '';
  if (parts.length === 1 && first.type === 'text') return first.text;
  return parts.map((part) => encodeChatPart(part, field));
}

/**
 * @param field what the caller's dialect calls the conversation, to name it in an error
 * @throws UpstreamError `unsupported` for a document that the dialect has no spelling for
 */
export function encodeChatPart(part: SpokenPart, field: string): JsonObject {
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

/** Plain text is said as text, which models without an eye for files read as well. */
function encodeDocument({ source, filename }: DocumentPart, field: string): JsonObject {
  if (source.kind === 'url') {
    throw new UpstreamError({
      failure: 'unsupported',
      param: field,
      message: 'This model takes documents as inline data, not by URL.',
    });
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
