import type {
  CacheControl,
  MediaSource,
  MessagePart,
  ReasoningPart,
  ToolResultPart,
} from '../../canonical/canonical-request.js';
import { toCacheControl } from '../../canonical/prompt-parts.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { BodyOf } from '../../platform/http/validate-body.js';
import {
  isBase64Source,
  isContentSource,
  isDocumentBlock,
  isImageBlock,
  isRedactedThinking,
  isSearchResult,
  isTextBlock,
  isTextSource,
  isThinking,
  isToolResult,
  isToolUse,
  isUrlSource,
} from './measure-messages-prompt.js';
import { readRedactedData, readSignature } from './message-signatures.js';
import type { blockSchemas } from './messages.schema.js';

type ResultPart = ToolResultPart['parts'][number];

/** Converts validated content blocks to parts of canonical messages. */
export class MessageParts {
  /** @param droppedFields collects names that the canonical form cannot represent */
  constructor(private readonly droppedFields: Set<string>) {}

  /** Returns the parts of a message's `content`: a string, blocks or nothing. */
  of(content: string | readonly JsonObject[] | null | undefined): MessagePart[] {
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    const signaturesOfCalls = new Map<string, string>();
    const parts = (content ?? []).flatMap((block) => this.toParts(block, signaturesOfCalls));
    if (signaturesOfCalls.size === 0) return parts;
    return parts.map((part) => {
      const signature = part.type === 'tool_call' ? signaturesOfCalls.get(part.id) : undefined;
      return signature === undefined ? part : { ...part, signature };
    });
  }

  private toParts(block: JsonObject, signaturesOfCalls: Map<string, string>): MessagePart[] {
    switch (block.type) {
      case 'thinking': {
        if (!isThinking(block)) return [];
        const signature = readSignature(block.signature);
        return [{ type: 'reasoning', text: block.thinking, ...(signature && { signature }) }];
      }
      case 'redacted_thinking':
        return isRedactedThinking(block) ? toRedacted(block.data, signaturesOfCalls) : [];
      case 'tool_use': {
        if (!isToolUse(block)) return [];
        const { id, name, input } = block;
        const args = JSON.stringify(input);
        return [{ type: 'tool_call', id, name, arguments: args, ...cacheControlOf(block) }];
      }
      case 'tool_result': {
        if (!isToolResult(block)) return [];
        const parts = this.toResultParts(block.content);
        const isError = block.is_error === true ? { isError: true } : {};
        const toolCallId = block.tool_use_id;
        return [{ type: 'tool_result', toolCallId, parts, ...isError, ...cacheControlOf(block) }];
      }
      default:
        return this.toContentParts(block);
    }
  }

  private toResultParts(content: string | readonly JsonObject[] | null | undefined): ResultPart[] {
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    return (content ?? []).flatMap((block) => this.toContentParts(block));
  }

  /** Returns the parts of a block that can be in a message or a tool result. */
  private toContentParts(block: JsonObject): ResultPart[] {
    const cacheControl = cacheControlOf(block);
    if (block.citations != null) this.droppedFields.add('messages.content.citations');
    switch (block.type) {
      case 'text':
        if (!isTextBlock(block)) break;
        return [{ type: 'text', text: block.text, ...cacheControl }];
      case 'image': {
        const source = isImageBlock(block) ? toMediaSource(block.source) : undefined;
        if (source) return [{ type: 'image', source, ...cacheControl }];
        break;
      }
      case 'document': {
        const parts = isDocumentBlock(block) && this.toDocumentParts(block, cacheControl);
        if (parts) return parts;
        break;
      }
      case 'search_result': {
        if (!isSearchResult(block)) break;
        const texts = this.toResultParts(block.content).map((part) =>
          part.type === 'text' ? part.text : '',
        );
        const head = `${block.title}\n${block.source}`;
        return [{ type: 'text', text: [head, ...texts].join('\n\n'), ...cacheControl }];
      }
      default:
        break;
    }
    this.droppedFields.add(`messages.content.${String(block.type)}`);
    return [];
  }

  /** Returns undefined for a document that the canonical form cannot represent. */
  private toDocumentParts(
    { source: document, title, context }: DocumentBlock,
    cacheControl: { cacheControl?: CacheControl },
  ): ResultPart[] | undefined {
    if (document.type === 'content') {
      return isContentSource(document) ? this.toResultParts(document.content) : undefined;
    }
    const source = toMediaSource(document);
    if (!source) return undefined;
    if (context != null) this.droppedFields.add('messages.content.context');
    const filename = typeof title === 'string' ? { filename: title } : {};
    return [{ type: 'document', source, ...filename, ...cacheControl }];
  }
}

type DocumentBlock = BodyOf<typeof blockSchemas.document>;

function cacheControlOf(block: JsonObject): { cacheControl?: CacheControl } {
  const cacheControl = toCacheControl(block.cache_control);
  return cacheControl ? { cacheControl } : {};
}

/** A redacted thought, or the signature of a tool call in the same message. */
function toRedacted(data: string, signaturesOfCalls: Map<string, string>): ReasoningPart[] {
  if (data === '') return [];
  const { signature, toolCallId } = readRedactedData(data);
  if (toolCallId === undefined) return [{ type: 'reasoning', text: '', signature }];
  signaturesOfCalls.set(toolCallId, signature);
  return [];
}

function toMediaSource(source: JsonObject): MediaSource | undefined {
  switch (source.type) {
    case 'base64': {
      if (!isBase64Source(source)) return undefined;
      return { kind: 'inline', mediaType: source.media_type.toLowerCase(), data: source.data };
    }
    case 'text': {
      if (!isTextSource(source)) return undefined;
      const data = Buffer.from(source.data).toString('base64');
      return { kind: 'inline', mediaType: 'text/plain', data };
    }
    case 'url':
      return isUrlSource(source) ? { kind: 'url', url: source.url } : undefined;
    default:
      return undefined;
  }
}
