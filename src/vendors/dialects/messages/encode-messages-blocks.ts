import type {
  CacheControl,
  MessagePart,
  ToolCallPart,
  ToolResultPart,
} from '../../../canonical/canonical-request.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError } from '../../upstream-error.js';
import { mapToolId } from '../map-tool-id.js';
import { encodeDocument, encodeImage } from './encode-messages-media.js';
import { unsealThinking } from './messages-seal.js';

/** A content block as it goes over the wire. */
export type Block = { type: string } & JsonObject;

/**
 * The content blocks of one part: none for text without a visible character, which the vendor
 * refuses, and for reasoning that another vendor has sealed or nobody has.
 *
 * @throws UpstreamError `unsupported` for what the dialect has no place for
 */
export function encodeBlocks(part: MessagePart, sealMaker: string): Block[] {
  switch (part.type) {
    case 'text':
      return encodeText(part.text, part.cacheControl);
    case 'refusal':
      return encodeText(part.text);
    case 'image':
      return [{ ...(encodeImage(part) as Block), ...encodeCacheControl(part.cacheControl) }];
    case 'document':
      return [{ ...(encodeDocument(part) as Block), ...encodeCacheControl(part.cacheControl) }];
    case 'reasoning': {
      const block = unsealThinking(sealMaker, part.seal, part.text);
      return block ? [block] : [];
    }
    case 'tool_call':
      return [encodeToolCall(part)];
    case 'tool_result':
      return [encodeToolResult(part, sealMaker)];
    case 'audio':
      throw new UpstreamError({
        failure: 'unsupported',
        message: 'This model cannot listen to audio.',
        param: 'messages',
      });
  }
}

/** `cache_control` as a member to spread; five minutes are the vendor's default. */
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
    input: readArguments(text),
    ...encodeCacheControl(cacheControl),
  };
}

/** The vendor wants an object; what is none, a free-form input say, becomes the member of one. */
function readArguments(text: string): JsonObject {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // What a model wrote before may be no JSON at all, and is part of the conversation all the same.
  }
  return { input: text };
}

function encodeToolResult(result: ToolResultPart, sealMaker: string): Block {
  const content = result.parts.flatMap((part) => encodeBlocks(part, sealMaker));
  return {
    type: 'tool_result',
    tool_use_id: mapToolId(result.toolCallId),
    ...(content.length > 0 && { content }),
    ...(result.isError === true && { is_error: true }),
    ...encodeCacheControl(result.cacheControl),
  };
}
