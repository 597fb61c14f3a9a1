import { nameSignature, type CanonicalEvent } from '../../../canonical/canonical-event.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { HeldBackLimit } from '../held-back.js';
import { CallIds } from '../tool-calls.js';
import { startEvent } from '../vendor-answer.js';
import { mapFinishReason } from '../map-finish-reason.js';
import type { MessagesDeltaField } from './find-messages-delta.js';
import { nameRedactedThinking } from './thinking-blocks.js';
import { isSearch, MessagesUsageReader } from './read-messages-usage.js';

export interface MessagesDecoderOptions {
  /** The maker that signs this vendor's reasoning, see `nameSignature`. */
  signatureIssuer: string;
  /** The tool whose arguments are the answer's text, if any. */
  jsonTool: string | undefined;
}

/** A content block in progress. */
type OpenBlock =
  | { kind: 'text' }
  | { kind: 'json'; input: unknown; hasArguments: boolean }
  | { kind: 'thinking'; signature: string }
  | { kind: 'tool'; index: number; input: unknown; hasArguments: boolean }
  | { kind: 'other' };

/** Events that count after the stop reason. */
const MAY_FOLLOW_THE_END: ReadonlySet<unknown> = new Set(['message_delta', 'message_stop']);

/** The messages dialect has a single answer. */
const choice = 0;

/** Decodes the events of one answer into canonical ones. Skips unknown ones. */
export class MessagesEventDecoder {
  private readonly blocks = new Map<unknown, OpenBlock>();
  private readonly usage = new MessagesUsageReader();
  private readonly callIds = new CallIds();
  private readonly heldBack = new HeldBackLimit();
  private toolCalls = 0;
  private hasStarted = false;
  private hasJson = false;
  /** Texts next to the tool that carries the answer; they are the answer only if it is not called. */
  private readonly heldTexts: string[] = [];

  /** True once the stop reason has arrived. */
  hasFinished = false;
  isDone = false;

  constructor(private readonly options: MessagesDecoderOptions) {}

  /**
   * Appends the canonical events of an event to `events`. After the answer's end, only its usage counts.
   *
   * @throws UpstreamError `unreadable` when too much is held back
   */
  decode(event: JsonObject, events: CanonicalEvent[]): void {
    if (this.hasFinished && !MAY_FOLLOW_THE_END.has(event.type)) return;
    switch (event.type) {
      case 'content_block_delta':
        if (isJsonObject(event.delta)) this.readDelta(event.index, event.delta, events);
        break;
      case 'message_start':
        this.start(isJsonObject(event.message) ? event.message : {}, events);
        break;
      case 'content_block_start':
        if (isJsonObject(event.content_block)) {
          this.startBlock(event.index, event.content_block, events);
        }
        break;
      case 'content_block_stop':
        this.stopBlock(event.index, events);
        break;
      case 'message_delta':
        this.readEnd(event, events);
        break;
      case 'message_stop':
        this.isDone = true;
        break;
      default:
        break;
    }
  }

  /** Appends a delta given only its piece. */
  addPiece(
    index: number,
    field: MessagesDeltaField,
    piece: string,
    events: CanonicalEvent[],
  ): void {
    if (this.hasFinished) return;
    switch (field) {
      case 'text':
        this.addProse(piece, events);
        break;
      case 'thinking':
        addReasoning(piece, events);
        break;
      case 'partial_json':
        this.addArguments(this.blocks.get(index), piece, events);
        break;
    }
  }

  private start({ id, usage }: JsonObject, events: CanonicalEvent[]): void {
    this.usage.add(usage, { isFinal: false });
    if (this.hasStarted) return;
    this.hasStarted = true;
    events.push(startEvent(id));
    this.noteUsageSoFar(events);
  }

  private noteUsageSoFar(events: CanonicalEvent[]): void {
    const soFar = this.usage.readSoFar();
    if (soFar) events.push({ type: 'usage', usage: soFar, isPartial: true });
  }

  private startBlock(index: unknown, block: JsonObject, events: CanonicalEvent[]): void {
    this.stopBlock(index, events);
    this.heldBack.add(typeof index === 'string' ? index : '');
    this.blocks.set(index, this.openBlock(block, events));
  }

  private openBlock(block: JsonObject, events: CanonicalEvent[]): OpenBlock {
    switch (block.type) {
      case 'text':
        this.addProse(block.text, events);
        return { kind: 'text' };
      case 'thinking':
        addReasoning(block.thinking, events);
        return { kind: 'thinking', signature: textOf(block.signature) };
      case 'redacted_thinking': {
        const named = nameRedactedThinking(this.options.signatureIssuer, textOf(block.data));
        events.push({ type: 'reasoning', choice, text: '', signature: named });
        return { kind: 'other' };
      }
      case 'tool_use': {
        const { input } = block;
        const name = textOf(block.name);
        if (name === this.options.jsonTool) {
          // Only the first call of that tool is the answer.
          if (this.hasJson) return { kind: 'other' };
          this.hasJson = true;
          return { kind: 'json', input, hasArguments: false };
        }
        const index = this.toolCalls++;
        events.push({ type: 'tool_call', choice, index, id: this.callIds.next(block.id), name });
        return { kind: 'tool', index, input, hasArguments: false };
      }
      default:
        if (isSearch(block)) {
          this.usage.addSearch();
          this.noteUsageSoFar(events);
        }
        return { kind: 'other' };
    }
  }

  private readDelta(index: unknown, delta: JsonObject, events: CanonicalEvent[]): void {
    switch (delta.type) {
      case 'text_delta':
        this.addProse(delta.text, events);
        break;
      case 'thinking_delta':
        addReasoning(delta.thinking, events);
        break;
      case 'signature_delta': {
        const block = this.blocks.get(index);
        if (block?.kind !== 'thinking') break;
        const piece = textOf(delta.signature);
        this.heldBack.add(piece);
        block.signature += piece;
        break;
      }
      case 'input_json_delta':
        this.addArguments(this.blocks.get(index), textOf(delta.partial_json), events);
        break;
      default:
        break;
    }
  }

  private addProse(text: unknown, events: CanonicalEvent[]): void {
    if (this.options.jsonTool === undefined) return addText(text, events);
    const held = textOf(text);
    this.heldBack.add(held);
    this.heldTexts.push(held);
  }

  private addArguments(block: OpenBlock | undefined, text: string, events: CanonicalEvent[]): void {
    if (text === '' || (block?.kind !== 'tool' && block?.kind !== 'json')) return;
    block.hasArguments = true;
    if (block.kind === 'json') addText(text, events);
    else addToolArguments(block.index, text, events);
  }

  private stopBlock(index: unknown, events: CanonicalEvent[]): void {
    const block = this.blocks.get(index);
    if (!block) return;
    this.blocks.delete(index);
    if (block.kind === 'thinking' && block.signature !== '') {
      const named = nameSignature(this.options.signatureIssuer, block.signature);
      events.push({ type: 'reasoning', choice, text: '', signature: named });
    }
    // A call without argument deltas has its arguments in the block start, or none.
    if ((block.kind === 'tool' || block.kind === 'json') && !block.hasArguments) {
      const input = isJsonObject(block.input) ? block.input : {};
      this.addArguments(block, JSON.stringify(input), events);
    }
  }

  private readEnd({ delta, usage }: JsonObject, events: CanonicalEvent[]): void {
    this.usage.add(usage, { isFinal: true });
    const total = this.usage.read();
    const { stop_reason: reason, stop_sequence: sequence } = isJsonObject(delta) ? delta : {};
    if (typeof reason === 'string' && reason !== '' && !this.hasFinished) {
      for (const index of [...this.blocks.keys()]) this.stopBlock(index, events);
      this.hasFinished = true;
      if (!this.hasJson) addText(this.heldTexts.splice(0).join(''), events);
      const isJsonAnswer = reason === 'tool_use' && this.toolCalls === 0 && this.hasJson;
      events.push({
        type: 'finish',
        choice,
        reason: isJsonAnswer ? 'stop' : mapFinishReason('messages', reason),
        ...(typeof sequence === 'string' && { stopSequence: sequence }),
      });
    }
    if (total) events.push({ type: 'usage', usage: total });
  }
}

/** Merges pieces from one read: each event costs, however small it is. */
function addText(text: unknown, events: CanonicalEvent[]): void {
  if (typeof text !== 'string' || text === '') return;
  const last = events.at(-1);
  if (last?.type === 'text') last.text += text;
  else events.push({ type: 'text', choice, text });
}

function addReasoning(text: unknown, events: CanonicalEvent[]): void {
  if (typeof text !== 'string' || text === '') return;
  const last = events.at(-1);
  if (last?.type === 'reasoning' && last.signature === undefined) last.text += text;
  else events.push({ type: 'reasoning', choice, text });
}

function addToolArguments(index: number, text: string, events: CanonicalEvent[]): void {
  const last = events.at(-1);
  if (last?.type === 'tool_arguments' && last.index === index) last.text += text;
  else events.push({ type: 'tool_arguments', choice, index, text });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
