import type {
  CanonicalMessage,
  DocumentPart,
  ImagePart,
  MessagePart,
  TextPart,
} from '../../canonical/canonical-request.js';
import { readMediaSource } from '../../canonical/prompt-parts.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { readBuiltInCall, readBuiltInOutput, toFunctionArguments } from './call-items.js';
import { functionName } from './client-tools.js';
import {
  isAudioPart,
  isCustomToolCall,
  isFunctionCall,
  isMessage,
  isReasoning,
  isRefusalPart,
  isTextPart,
  isToolOutput,
} from './measure-responses-prompt.js';
import { fromEncryptedContent } from './responses.vendor.js';

export interface ReadItems {
  messages: CanonicalMessage[];
  /** Paths of items and parts that the canonical form cannot represent. */
  droppedFields: string[];
}

const ROLES: Record<string, CanonicalMessage['role']> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
};

/**
 * Converts items to canonical messages. Consecutive reasoning, text and tool calls of the model
 * become one assistant message, as other dialects expect.
 * @param historyLength number of items from earlier turns
 */
export function readItems(items: readonly JsonObject[], historyLength: number): ReadItems {
  const reader = new ItemReader();
  for (const [index, item] of items.entries()) {
    const isOwn = index >= historyLength;
    reader.read(item, isOwn ? `input.${index - historyLength}` : 'previous_response_id');
  }
  return { messages: reader.messages, droppedFields: [...reader.droppedFields] };
}

class ItemReader {
  readonly messages: CanonicalMessage[] = [];
  readonly droppedFields = new Set<string>();
  /** Call ids of built-in tools by item id, since some outputs refer to the item. */
  private readonly callIds = new Map<unknown, string>();
  /** Parts of the assistant message being assembled. */
  private spoken: MessagePart[] | undefined;

  read(item: JsonObject, path: string): void {
    switch (item.type ?? 'message') {
      case 'message': {
        const parts = isMessage(item) ? this.parts(item.content, `${path}.content`) : [];
        const role = (typeof item.role === 'string' && ROLES[item.role]) || 'user';
        if (role === 'assistant') this.say(...parts);
        else this.add({ role, parts });
        return;
      }
      case 'reasoning':
        this.reasoning(item);
        return;
      case 'function_call': {
        if (!isFunctionCall(item)) return;
        const { call_id: id, arguments: args } = item;
        const name = functionName(item.name, item.namespace);
        this.say({ type: 'tool_call', id, name, arguments: args, ...signatureBy(item) });
        return;
      }
      case 'custom_tool_call': {
        if (!isCustomToolCall(item)) return;
        const { call_id: id, input } = item;
        const name = functionName(item.name, item.namespace);
        const args = toFunctionArguments(input);
        this.say({ type: 'tool_call', id, name, arguments: args, ...signatureBy(item) });
        return;
      }
      case 'function_call_output':
      case 'custom_tool_call_output': {
        if (!isToolOutput(item)) return;
        const parts = this.parts(item.output, `${path}.output`).filter(isResultPart);
        const toolCallId = item.call_id;
        this.add({ role: 'tool', parts: [{ type: 'tool_result', toolCallId, parts }] });
        return;
      }
      default:
        if (!this.builtIn(item)) this.droppedFields.add(path);
    }
  }

  /** @returns whether the item is a built-in tool's call or output */
  private builtIn(item: JsonObject): boolean {
    const call = readBuiltInCall(item);
    if (call) {
      if (typeof item.id === 'string') this.callIds.set(item.id, call.id);
      this.say({ type: 'tool_call', ...call, ...signatureBy(item) });
      return true;
    }
    const text = readBuiltInOutput(item);
    const id = item.call_id ?? this.callIds.get(item.id) ?? item.id;
    if (text === undefined || typeof id !== 'string') return false;
    const parts: TextPart[] = [{ type: 'text', text }];
    this.add({ role: 'tool', parts: [{ type: 'tool_result', toolCallId: id, parts }] });
    return true;
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
    if (!isReasoning(item)) return;
    const textOf = (parts: typeof item.summary): string =>
      (parts ?? []).map(({ text }) => text).join('\n\n');
    const text = textOf(item.summary) || textOf(item.content);
    const signature = signatureBy(item);
    if (text !== '' || signature.signature !== undefined)
      this.say({ type: 'reasoning', text, ...signature });
  }

  private parts(content: string | readonly JsonObject[], path: string): MessagePart[] {
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    const parts: MessagePart[] = [];
    for (const [index, part] of content.entries()) {
      const read = toPart(part);
      if (read) parts.push(read);
      else
        this.droppedFields.add(
          path.startsWith('input.') ? `${path}.${index}` : path.split('.')[0]!,
        );
    }
    return parts;
  }
}

function isResultPart(part: MessagePart): part is TextPart | ImagePart | DocumentPart {
  return part.type === 'text' || part.type === 'image' || part.type === 'document';
}

function signatureBy({ encrypted_content: content }: JsonObject): { signature?: string } {
  return typeof content === 'string' && content !== ''
    ? { signature: fromEncryptedContent(content) }
    : {};
}

function toPart(part: JsonObject): MessagePart | undefined {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return isTextPart(part) ? { type: 'text', text: part.text } : undefined;
    case 'refusal':
      return isRefusalPart(part) ? { type: 'refusal', text: part.refusal } : undefined;
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
      if (!isAudioPart(part)) return undefined;
      const { data, format } = part.input_audio;
      return { type: 'audio', data, format };
    }
    default:
      return undefined;
  }
}
