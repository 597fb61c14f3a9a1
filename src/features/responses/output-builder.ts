import type {
  ContentEvent,
  ReasoningEvent,
  TextEvent,
  ToolArgumentsEvent,
  ToolCallEvent,
} from '../../canonical/canonical-event.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import {
  builtInMembers,
  CALL_PREFIXES,
  fromFunctionArguments,
  newCallItem,
  type CallItem,
} from './call-items.js';
import type { CallForm } from './client-tools.js';
import { outputItemId } from './item-id.js';
import type {
  ItemStatus,
  MessageItem,
  OutputItem,
  OutputTextPart,
  ReasoningItem,
  RefusalPart,
} from './response-object.js';
import { toEncryptedContent } from './responses.vendor.js';

/**
 * Emits a stream event without its sequence number: its other members, or a function that
 * serializes them, which is skipped when not streaming.
 */
export type EmitEvent = (type: string, fields: Record<string, unknown> | (() => string)) => void;

/** A message or reasoning item being written. Tool calls stay open in parallel. */
type OpenItem = { item: MessageItem | ReasoningItem; index: number };

interface OpenCall {
  item: CallItem;
  index: number;
  /** Arguments of non-function calls, buffered until they can be parsed. */
  arguments: string;
}

/** Builds output items from canonical events and emits the stream event of each step. */
export class OutputBuilder {
  readonly items: OutputItem[] = [];
  private open: OpenItem | undefined;
  private readonly openCalls = new Map<number, OpenCall>();

  constructor(
    /** Random part of the response id, used in item ids. */
    private readonly idBase: string,
    /** Returns the call form of a function; undefined for undeclared ones. */
    private readonly formOf: (name: string) => CallForm | undefined,
    private readonly emit: EmitEvent,
  ) {}

  observe(event: ContentEvent): void {
    switch (event.type) {
      case 'text':
        if (event.text !== '' || event.logprobs != null) this.text(event);
        return;
      case 'refusal':
        if (event.text !== '') this.refusal(event.text);
        return;
      case 'reasoning':
        if (event.text !== '' || event.signature !== undefined) this.reasoning(event);
        return;
      case 'tool_call':
        this.toolCall(event);
        return;
      case 'tool_arguments':
        this.toolArguments(event);
        return;
    }
  }

  /** Closes all open items; as `incomplete` when the answer was truncated. */
  close(status: ItemStatus): void {
    this.closeOpen(status);
    for (const call of this.openCalls.values()) this.closeCall(call, status);
    this.openCalls.clear();
  }

  /** Drops open items without emitting events. */
  abandon(): void {
    if (this.open?.item.type === 'message') this.open.item.status = 'incomplete';
    for (const { item } of this.openCalls.values()) item.status = 'incomplete';
  }

  private text({ text, logprobs }: TextEvent): void {
    const message = this.messageFor('output_text');
    const at = message.item.content.length - 1;
    const part = message.item.content[at] as OutputTextPart;
    const pieces = logprobsOf(logprobs);
    part.text += text;
    for (const piece of pieces) part.logprobs.push(piece);
    this.emit('response.output_text.delta', () => {
      const logprobsJson = pieces.length === 0 ? '[]' : JSON.stringify(pieces);
      return `${placeJson(message, at)},${deltaJson(text)},"logprobs":${logprobsJson}`;
    });
  }

  private refusal(text: string): void {
    const message = this.messageFor('refusal');
    const at = message.item.content.length - 1;
    (message.item.content[at] as RefusalPart).refusal += text;
    this.emit('response.refusal.delta', () => `${placeJson(message, at)},${deltaJson(text)}`);
  }

  /** Returns the open message whose last part has this type. */
  private messageFor(type: 'output_text' | 'refusal'): OpenItem & { item: MessageItem } {
    const { open } = this;
    if (open?.item.type !== 'message') {
      this.close('completed');
      const content = [newPart(type)];
      const index = this.items.length;
      const item: MessageItem = {
        id: this.id('msg', index),
        type: 'message',
        status: 'in_progress',
        role: 'assistant',
        content,
      };
      const added = { item, index };
      this.open = added;
      this.add(item);
      return added;
    }
    const message = { item: open.item, index: open.index };
    if (message.item.content.at(-1)?.type !== type) {
      this.closePart(message);
      const part = newPart(type);
      message.item.content.push(part);
      const at = message.item.content.length - 1;
      this.emit('response.content_part.added', { ...place(message, at), part });
    }
    return message;
  }

  private reasoning({ text, signature }: ReasoningEvent): void {
    if (this.open?.item.type !== 'reasoning') {
      this.close('completed');
      const index = this.items.length;
      const item: ReasoningItem = { id: this.id('rs', index), type: 'reasoning', summary: [] };
      this.open = { item, index };
      this.add(item);
    }
    const open = this.open as OpenItem & { item: ReasoningItem };
    const where = { item_id: open.item.id, output_index: open.index, summary_index: 0 };
    if (text !== '') {
      let [part] = open.item.summary;
      if (!part) {
        part = { type: 'summary_text', text: '' };
        open.item.summary.push(part);
        this.emit('response.reasoning_summary_part.added', { ...where, part });
      }
      part.text += text;
      this.emit(
        'response.reasoning_summary_text.delta',
        () => `${itemJson(open)},"summary_index":0,${deltaJson(text)}`,
      );
    }
    if (signature !== undefined) {
      // A signature ends the block. Later reasoning starts another one.
      open.item.encrypted_content = toEncryptedContent(signature);
      this.closeOpen('completed');
    }
  }

  private toolCall({ index: callIndex, id, name, signature }: ToolCallEvent): void {
    this.closeOpen('completed');
    const index = this.items.length;
    const form = this.formOf(name) ?? { type: 'function_call', name };
    const item = newCallItem(form, this.id(CALL_PREFIXES[form.type], index), id);
    if (signature !== undefined) item.encrypted_content = toEncryptedContent(signature);
    const repeated = this.openCalls.get(callIndex);
    if (repeated) this.closeCall(repeated, 'completed');
    this.openCalls.set(callIndex, { item, index, arguments: '' });
    this.add(item);
  }

  private toolArguments({ index, text }: ToolArgumentsEvent): void {
    const call = this.openCalls.get(index);
    if (!call || text === '') return;
    call.arguments += text;
    if (call.item.type !== 'function_call') return;
    call.item.arguments += text;
    this.emit(
      'response.function_call_arguments.delta',
      () => `${itemJson(call)},${deltaJson(text)}`,
    );
  }

  private closeOpen(status: ItemStatus): void {
    const { open } = this;
    if (!open) return;
    this.open = undefined;
    if (open.item.type === 'message') {
      const message = { item: open.item, index: open.index };
      this.closePart(message);
      message.item.status = status;
    } else {
      const where = { item_id: open.item.id, output_index: open.index, summary_index: 0 };
      const [part] = open.item.summary;
      if (part) {
        this.emit('response.reasoning_summary_text.done', { ...where, text: part.text });
        this.emit('response.reasoning_summary_part.done', { ...where, part });
      }
    }
    this.done(open.item, open.index);
  }

  private closePart(message: OpenItem & { item: MessageItem }): void {
    const at = message.item.content.length - 1;
    const part = message.item.content[at]!;
    if (part.type === 'output_text') {
      const { text, logprobs } = part;
      this.emit('response.output_text.done', { ...place(message, at), text, logprobs });
    } else {
      this.emit('response.refusal.done', { ...place(message, at), refusal: part.refusal });
    }
  }

  private closeCall({ item, index, arguments: args }: OpenCall, status: ItemStatus): void {
    item.status = status;
    const where = { item_id: item.id, output_index: index };
    if (item.type === 'function_call') {
      this.emit('response.function_call_arguments.done', {
        ...where,
        name: item.name,
        arguments: item.arguments,
      });
    } else if (item.type !== 'custom_tool_call') {
      Object.assign(item, builtInMembers(item.type, args));
    } else {
      item.input = fromFunctionArguments(args);
      this.emit('response.custom_tool_call_input.delta', { ...where, delta: item.input });
      this.emit('response.custom_tool_call_input.done', { ...where, input: item.input });
    }
    this.done(item, index);
  }

  private add(item: OutputItem): void {
    this.items.push(item);
    this.emit('response.output_item.added', { output_index: this.items.length - 1, item });
  }

  private done(item: OutputItem, index: number): void {
    this.emit('response.output_item.done', { output_index: index, item });
  }

  private id(prefix: string, index: number): string {
    return outputItemId(prefix, this.idBase, index);
  }
}

function newPart(type: 'output_text' | 'refusal'): OutputTextPart | RefusalPart {
  if (type === 'refusal') return { type, refusal: '' };
  return { type, text: '', annotations: [], logprobs: [] };
}

function place({ item, index }: OpenItem, contentIndex: number): object {
  return { item_id: item.id, output_index: index, content_index: contentIndex };
}

/** JSON members that identify an item. The id is the gateway's own, so it needs no escaping. */
function itemJson({ item, index }: OpenItem | OpenCall): string {
  return `"item_id":"${item.id}","output_index":${index}`;
}

/** JSON counterpart of `place`. */
function placeJson(open: OpenItem, contentIndex: number): string {
  return `${itemJson(open)},"content_index":${contentIndex}`;
}

function deltaJson(text: string): string {
  return `"delta":${JSON.stringify(text)}`;
}

/** The chat dialect wraps the list in an object. */
function logprobsOf(logprobs: unknown): unknown[] {
  if (Array.isArray(logprobs)) return logprobs;
  return isJsonObject(logprobs) && Array.isArray(logprobs.content) ? logprobs.content : [];
}
