import type {
  CanonicalMessage,
  DocumentPart,
  ImagePart,
  MessagePart,
  TextPart,
} from '../../canonical/canonical-request.js';
import { readMediaSource } from '../../canonical/prompt-parts.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { toFunctionArguments } from './custom-tools.js';
import { fromEncryptedContent } from './responses.vendor.js';

export interface ReadItems {
  messages: CanonicalMessage[];
  /** Paths of items and parts that the canonical form has no place for. */
  leftOver: string[];
}

const ROLES: Record<string, CanonicalMessage['role']> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
};

/**
 * Items as canonical messages. What a model said in one go (reasoning, text, tool calls) is one
 * message of the assistant's, as other dialects want it.
 *
 * @param historyLength how many of the items come from earlier turns
 */
export function readItems(items: readonly JsonObject[], historyLength: number): ReadItems {
  const reader = new ItemReader();
  for (const [index, item] of items.entries()) {
    const isOwn = index >= historyLength;
    reader.read(item, isOwn ? `input.${index - historyLength}` : 'previous_response_id');
  }
  return { messages: reader.messages, leftOver: [...reader.leftOver] };
}

class ItemReader {
  readonly messages: CanonicalMessage[] = [];
  readonly leftOver = new Set<string>();
  /** The parts of the assistant's message that is being put together. */
  private spoken: MessagePart[] | undefined;

  read(item: JsonObject, path: string): void {
    switch (item.type ?? 'message') {
      case 'message': {
        const parts = this.parts(item.content, `${path}.content`);
        const role = ROLES[item.role as string] ?? 'user';
        if (role === 'assistant') this.say(...parts);
        else this.add({ role, parts });
        return;
      }
      case 'reasoning':
        this.reasoning(item);
        return;
      case 'function_call':
      case 'custom_tool_call':
        this.say({
          type: 'tool_call',
          id: item.call_id as string,
          name: item.name as string,
          arguments:
            item.type === 'function_call'
              ? (item.arguments as string)
              : toFunctionArguments(item.input as string),
          ...sealOf(item),
        });
        return;
      case 'function_call_output':
      case 'custom_tool_call_output': {
        const parts = this.parts(item.output, `${path}.output`).filter(isResultPart);
        const toolCallId = item.call_id as string;
        this.add({ role: 'tool', parts: [{ type: 'tool_result', toolCallId, parts }] });
        return;
      }
      default:
        this.leftOver.add(path);
    }
  }

  private add(message: CanonicalMessage): void {
    this.spoken = undefined;
    this.messages.push(message);
  }

  private say(...parts: MessagePart[]): void {
    if (this.spoken) {
      this.spoken.push(...parts);
    } else {
      this.spoken = [...parts];
      this.messages.push({ role: 'assistant', parts: this.spoken });
    }
  }

  private reasoning(item: JsonObject): void {
    const textOf = (parts: unknown): string =>
      (Array.isArray(parts) ? (parts as JsonObject[]) : []).map(({ text }) => text).join('\n\n');
    const text = textOf(item.summary) || textOf(item.content);
    const seal = sealOf(item);
    if (text !== '' || seal.seal !== undefined) this.say({ type: 'reasoning', text, ...seal });
  }

  private parts(content: unknown, path: string): MessagePart[] {
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    const parts: MessagePart[] = [];
    for (const [index, part] of ((content ?? []) as JsonObject[]).entries()) {
      const read = toPart(part);
      if (read) parts.push(read);
      else this.leftOver.add(path.startsWith('input.') ? `${path}.${index}` : path.split('.')[0]!);
    }
    return parts;
  }
}

function isResultPart(part: MessagePart): part is TextPart | ImagePart | DocumentPart {
  return part.type === 'text' || part.type === 'image' || part.type === 'document';
}

function sealOf({ encrypted_content: content }: JsonObject): { seal?: string } {
  return typeof content === 'string' && content !== ''
    ? { seal: fromEncryptedContent(content) }
    : {};
}

function toPart(part: JsonObject): MessagePart | undefined {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: part.text as string };
    case 'refusal':
      return { type: 'refusal', text: part.refusal as string };
    case 'input_image': {
      if (typeof part.image_url !== 'string') return undefined;
      const detail = typeof part.detail === 'string' ? { detail: part.detail } : {};
      return { type: 'image', source: readMediaSource(part.image_url), ...detail };
    }
    case 'input_file': {
      const data = part.file_data ?? part.file_url;
      if (typeof data !== 'string') return undefined;
      const filename = typeof part.filename === 'string' ? { filename: part.filename } : {};
      return { type: 'document', source: readMediaSource(data), ...filename };
    }
    case 'input_audio': {
      const audio = isJsonObject(part.input_audio) ? part.input_audio : {};
      return { type: 'audio', data: String(audio.data), format: String(audio.format) };
    }
    default:
      return undefined;
  }
}
