import type {
  CacheControl,
  MediaSource,
  MessagePart,
  ReasoningPart,
  ToolResultPart,
} from '../../canonical/canonical-request.js';
import { toCacheControl } from '../../canonical/prompt-parts.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { readRedactedData, readSignature } from './message-seals.js';

type ResultPart = ToolResultPart['parts'][number];

/** Turns content blocks that have been checked into parts of canonical messages. */
export class MessageParts {
  /** @param leftOver takes the names of what the canonical form has no place for */
  constructor(private readonly leftOver: Set<string>) {}

  /** The parts of one message's `content`: a string, blocks, or nothing. */
  of(content: unknown): MessagePart[] {
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    const sealsOfCalls = new Map<string, string>();
    const blocks = (content ?? []) as JsonObject[];
    const parts = blocks.flatMap((block) => this.toParts(block, sealsOfCalls));
    if (sealsOfCalls.size === 0) return parts;
    return parts.map((part) => {
      const seal = part.type === 'tool_call' ? sealsOfCalls.get(part.id) : undefined;
      return seal === undefined ? part : { ...part, seal };
    });
  }

  private toParts(block: JsonObject, sealsOfCalls: Map<string, string>): MessagePart[] {
    switch (block.type) {
      case 'thinking': {
        const seal = readSignature(block.signature as string);
        return [{ type: 'reasoning', text: block.thinking as string, ...(seal && { seal }) }];
      }
      case 'redacted_thinking':
        return toRedacted(block.data as string, sealsOfCalls);
      case 'tool_use':
        return [
          {
            type: 'tool_call',
            id: block.id as string,
            name: block.name as string,
            arguments: JSON.stringify(block.input),
            ...cacheControlOf(block),
          },
        ];
      case 'tool_result': {
        const parts = this.toResultParts(block.content);
        const isError = block.is_error === true ? { isError: true } : {};
        const toolCallId = block.tool_use_id as string;
        return [{ type: 'tool_result', toolCallId, parts, ...isError, ...cacheControlOf(block) }];
      }
      default:
        return this.toContentParts(block);
    }
  }

  private toResultParts(content: unknown): ResultPart[] {
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    return ((content ?? []) as JsonObject[]).flatMap((block) => this.toContentParts(block));
  }

  /** The parts of a block that may stand in a message as well as in the result of a tool. */
  private toContentParts(block: JsonObject): ResultPart[] {
    const cacheControl = cacheControlOf(block);
    if (block.citations != null) this.leftOver.add('messages.content.citations');
    switch (block.type) {
      case 'text':
        return [{ type: 'text', text: block.text as string, ...cacheControl }];
      case 'image': {
        const source = toMediaSource(block.source as JsonObject);
        if (source) return [{ type: 'image', source, ...cacheControl }];
        break;
      }
      case 'document':
        return this.toDocumentParts(block, cacheControl);
      case 'search_result': {
        const texts = this.toResultParts(block.content).map((part) =>
          part.type === 'text' ? part.text : '',
        );
        const head = `${block.title as string}\n${block.source as string}`;
        return [{ type: 'text', text: [head, ...texts].join('\n\n'), ...cacheControl }];
      }
      default:
        break;
    }
    this.leftOver.add(`messages.content.${String(block.type)}`);
    return [];
  }

  private toDocumentParts(
    block: JsonObject,
    cacheControl: { cacheControl?: CacheControl },
  ): ResultPart[] {
    const document = block.source as JsonObject;
    if (document.type === 'content') return this.toResultParts(document.content);
    const source = toMediaSource(document);
    if (!source) {
      this.leftOver.add('messages.content.document');
      return [];
    }
    if (block.context != null) this.leftOver.add('messages.content.context');
    const filename = typeof block.title === 'string' ? { filename: block.title } : {};
    return [{ type: 'document', source, ...filename, ...cacheControl }];
  }
}

function cacheControlOf(block: JsonObject): { cacheControl?: CacheControl } {
  const cacheControl = toCacheControl(block.cache_control);
  return cacheControl ? { cacheControl } : {};
}

/** A thought of its own, or the seal of a tool call in the same message. */
function toRedacted(data: string, sealsOfCalls: Map<string, string>): ReasoningPart[] {
  if (data === '') return [];
  const { seal, toolCallId } = readRedactedData(data);
  if (toolCallId === undefined) return [{ type: 'reasoning', text: '', seal }];
  sealsOfCalls.set(toolCallId, seal);
  return [];
}

function toMediaSource(source: JsonObject): MediaSource | undefined {
  switch (source.type) {
    case 'base64':
      return {
        kind: 'inline',
        mediaType: (source.media_type as string).toLowerCase(),
        data: source.data as string,
      };
    case 'text':
      return {
        kind: 'inline',
        mediaType: 'text/plain',
        data: Buffer.from(source.data as string).toString('base64'),
      };
    case 'url':
      return { kind: 'url', url: source.url as string };
    default:
      return undefined;
  }
}
