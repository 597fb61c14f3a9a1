import type {
  CanonicalMessage,
  CacheControl,
  MessagePart,
  ToolCallPart,
  ToolResultPart,
  DocumentPart,
  ImagePart,
  MediaSource,
} from '../../../canonical/canonical-request.js';
import { type UpstreamError, unsupported } from '../../upstream-error.js';
import { type JsonObject } from '../../../platform/http/json-body.js';
import { assertToolInputs, mapToolId, toolInput } from '../tool-calls.js';
import { readThinkingBlock } from './thinking-blocks.js';

const IMAGE_TYPES: Record<string, string> = {
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
  'image/png': 'image/png',
  'image/gif': 'image/gif',
  'image/webp': 'image/webp',
};

/** Text types whose names do not say so. */
const TEXT_TYPES = /^(?:text\/|application\/(?:json|xml|x-yaml|yaml|javascript)$)/;

export interface Turn {
  role: 'user' | 'assistant';
  content: Block[];
}

/** Replaces an empty user turn, which the vendor rejects. */
const EMPTY_TURN = '.';

/**
 * Encodes the conversation in the vendor's structure: system messages separately, wherever they were, then
 * alternating turns that start with the user.
 *
 * @throws UpstreamError `unsupported` for parts that the dialect does not support
 */
export function encodeTurns(
  messages: readonly CanonicalMessage[],
  signatureIssuer: string,
): { system: Block[]; turns: Turn[] } {
  assertToolInputs(messages, 'messages');
  const system: Block[] = [];
  const turns: Turn[] = [];
  for (const { role, parts } of messages) {
    const content = parts.flatMap((part) => encodeBlocks(part, signatureIssuer));
    if (role === 'system') {
      system.push(...content.map(assertText));
      continue;
    }
    if (role === 'assistant' && content.length === 0) continue;
    const turnRole = role === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    if (last?.role === turnRole) last.content.push(...content);
    else turns.push({ role: turnRole, content });
  }
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', content: [] });
  for (const turn of turns) if (turn.role === 'user') turn.content = asUserContent(turn.content);
  trimPrefill(turns);
  return { system, turns };
}

/** Returns whether the answer continues the last assistant turn. */
export function endsWithPrefill(turns: readonly Turn[]): boolean {
  return turns.at(-1)?.role === 'assistant';
}

/** Orders a user turn: tool results must come first. */
function asUserContent(content: Block[]): Block[] {
  if (content.length === 0) return [{ type: 'text', text: EMPTY_TURN }];
  const isResult = ({ type }: Block): boolean => type === 'tool_result';
  return [...content.filter(isResult), ...content.filter((block) => !isResult(block))];
}

/** Trims the turn to continue, which must not end in white space. */
function trimPrefill(turns: readonly Turn[]): void {
  const block = endsWithPrefill(turns) ? turns.at(-1)?.content.at(-1) : undefined;
  if (typeof block?.text === 'string') block.text = block.text.trimEnd();
}

function assertText(block: Block): Block {
  if (block.type === 'text') return block;
  throw unsupported('messages', 'System messages to this model can contain only text.');
}

/** A content block in wire format. */
export type Block = { type: string } & JsonObject;

/**
 * Encodes one part as content blocks. Returns none for blank text, which the vendor rejects, and for
 * reasoning without the vendor's own signature.
 *
 * @throws UpstreamError `unsupported` for parts that the dialect does not support
 */
function encodeBlocks(part: MessagePart, signatureIssuer: string): Block[] {
  switch (part.type) {
    case 'text':
      return encodeText(part.text, part.cacheControl);
    case 'refusal':
      return encodeText(part.text);
    case 'image':
      return [{ ...encodeImage(part), ...encodeCacheControl(part.cacheControl) }];
    case 'document':
      return [{ ...encodeDocument(part), ...encodeCacheControl(part.cacheControl) }];
    case 'reasoning': {
      const block = readThinkingBlock(signatureIssuer, part.signature, part.text);
      return block ? [block] : [];
    }
    case 'tool_call':
      return [encodeToolCall(part)];
    case 'tool_result':
      return [encodeToolResult(part, signatureIssuer)];
    case 'audio':
      throw unsupported('messages', 'This model does not support audio.');
  }
}

/** Returns `cache_control` as a member to spread; the vendor's default is five minutes. */
export function encodeCacheControl(cacheControl: CacheControl | undefined): JsonObject {
  if (!cacheControl) return {};
  const ttl = cacheControl.ttl === '1h' ? { ttl: '1h' } : {};
  return { cache_control: { type: 'ephemeral', ...ttl } };
}

function encodeText(text: string, cacheControl?: CacheControl): Block[] {
  if (text.trim() === '') return [];
  return [{ type: 'text', text, ...encodeCacheControl(cacheControl) }];
}

function encodeToolCall({ id, name, arguments: text, cacheControl }: ToolCallPart): Block {
  return {
    type: 'tool_use',
    id: mapToolId(id),
    name,
    // Non-objects, such as a free-form tool's text, are wrapped in one.
    input: toolInput(text) ?? { input: text },
    ...encodeCacheControl(cacheControl),
  };
}

function encodeToolResult(result: ToolResultPart, signatureIssuer: string): Block {
  const content = result.parts.flatMap((part) => encodeBlocks(part, signatureIssuer));
  return {
    type: 'tool_result',
    tool_use_id: mapToolId(result.toolCallId),
    ...(content.length > 0 && { content }),
    ...(result.isError === true && { is_error: true }),
    ...encodeCacheControl(result.cacheControl),
  };
}

/** @throws UpstreamError `unsupported` for an image type that the dialect does not support */
function encodeImage({ source }: ImagePart): Block {
  if (source.kind === 'url') return { type: 'image', source: encodeUrl(source) };
  const mediaType = IMAGE_TYPES[source.mediaType];
  if (mediaType === undefined) throw unsupportedType(source.mediaType);
  return {
    type: 'image',
    source: { type: 'base64', media_type: mediaType, data: source.data },
  };
}

/** @throws UpstreamError `unsupported` for anything but a PDF or text */
function encodeDocument({ source, filename }: DocumentPart): Block {
  return {
    type: 'document',
    source: encodeDocumentSource(source),
    ...(filename !== undefined && filename.trim() !== '' && { title: filename }),
  };
}

function encodeDocumentSource(source: MediaSource): object {
  if (source.kind === 'url') return encodeUrl(source);
  const { mediaType, data } = source;
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data };
  if (!TEXT_TYPES.test(mediaType)) throw unsupportedType(mediaType);
  const text = Buffer.from(data, 'base64').toString('utf8');
  return { type: 'text', media_type: 'text/plain', data: text };
}

/** Encodes a URL that the vendor fetches, over https only. */
function encodeUrl({ url }: { url: string }): object {
  if (/^https:/i.test(url)) return { type: 'url', url };
  throw unsupported(
    'messages',
    'This model accepts images and documents only inline or from https URLs.',
  );
}

function unsupportedType(mediaType: string): UpstreamError {
  return unsupported(
    'messages',
    `This model cannot read ${JSON.stringify(mediaType.slice(0, 80))}.`,
  );
}
