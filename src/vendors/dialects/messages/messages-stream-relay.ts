import type { FinishReason } from '../../../canonical/canonical-event.js';
import type { Usage } from '../../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { topLevelMembers, spliceMembers } from '../../../platform/http/top-level-members.js';
import { UpstreamError } from '../../upstream-error.js';
import { startEvent } from '../vendor-answer.js';
import { mapFinishReason } from '../map-finish-reason.js';
import { eventData, normalizeFrames } from '../event-text.js';
import { SseStreamReader } from '../sse-stream-reader.js';
import { MessagesDeltaFinder } from './find-messages-delta.js';
import { parseMessagesJson } from './classify-messages-error.js';
import {
  MessagesUsageReader,
  isSearch,
  measureBlock,
  measureDelta,
} from './read-messages-usage.js';

/** How to relay an event: unchanged, replaced, or not at all. */
type EventEdit = 'keep' | 'drop' | { replace: string };

/**
 * Relays a messages stream to a caller of the same dialect.
 *
 * The bytes stay the vendor's, except for the documented edits: the model's name in `message_start`, pings
 * and comments, which are dropped, and `message_stop`, which is sent once the charge is final. Events with
 * just a piece of text are never parsed, and bytes without edits are relayed uncopied. Text is handled as
 * Latin-1, one character per byte.
 */
export class MessagesStreamRelay extends SseStreamReader {
  private readonly deltas = new MessagesDeltaFinder();
  private readonly usageReader = new MessagesUsageReader();
  private started = false;
  private finished = false;

  // Gathered by the current push:
  private hasContent = false;
  private characters = 0;
  private finishReason: FinishReason | undefined;
  private usage: Usage | undefined;

  /** @param alias the model name for the answer */
  constructor(private readonly alias: string) {
    super();
  }

  get isWhole(): boolean {
    return this.finished;
  }

  protected finish(): void {
    if (this.finished) return;
    throw new UpstreamError({ failure: 'cut', message: 'the stream ended without a stop reason' });
  }

  protected read(bytes: Buffer): void {
    const latin1 = bytes.toString('latin1');
    const text = normalizeFrames(latin1);
    const edited = this.readFrames(text);
    const output = edited ?? text;
    if (output !== '') {
      this.events.push({
        type: 'relay',
        dialect: 'messages',
        bytes: output === latin1 ? bytes : Buffer.from(output, 'latin1'),
        hasContent: this.hasContent,
        outputCharacters: this.characters,
        ...(this.finishReason !== undefined && { finishReason: this.finishReason }),
        ...(this.usage && { usage: this.usage }),
      });
    }
    this.hasContent = false;
    this.characters = 0;
    this.finishReason = undefined;
    this.usage = undefined;
  }

  /** @returns the replacement for the events; undefined when they are relayed unchanged */
  private readFrames(text: string): string | undefined {
    let output: string | undefined;
    for (let start = 0; start < text.length;) {
      const delta = this.deltas.find(text, start);
      if (delta) {
        this.characters += delta.characters;
        if (delta.characters > 0) this.hasContent = true;
        if (output !== undefined) output += text.slice(start, delta.end);
        start = delta.end;
        continue;
      }
      const blankLine = text.indexOf('\n\n', start);
      const end = blankLine === -1 ? text.length : blankLine + 2;
      const edit = this.decide(text.slice(start, end));
      if (edit !== 'keep') output ??= text.slice(0, start);
      if (output !== undefined && edit !== 'drop') {
        output += edit === 'keep' ? text.slice(start, end) : edit.replace;
      }
      if (this.isDone || this.failure) return output;
      start = end;
    }
    return output;
  }

  private decide(frame: string): EventEdit {
    const data = eventData(frame);
    if (data === '') return 'drop';
    try {
      const event = parseMessagesJson(Buffer.from(data, 'latin1').toString('utf8'), 'an event');
      const edit = this.readEvent(event, data);
      // Callers rely on event names, which some servers omit.
      if (edit !== 'keep' || frame.startsWith('event:') || frame.includes('\nevent:')) return edit;
      return { replace: `event: ${String(event.type)}\n${frame}` };
    } catch (error) {
      this.fail(error);
      return 'drop';
    }
  }

  private readEvent(event: JsonObject, data: string): EventEdit {
    switch (event.type) {
      case 'message_start':
        return this.readStart(isJsonObject(event.message) ? event.message : {}, data);
      case 'content_block_start':
        this.readBlock(isJsonObject(event.content_block) ? event.content_block : {});
        return 'keep';
      case 'content_block_delta':
        this.readDelta(isJsonObject(event.delta) ? event.delta : {});
        return 'keep';
      case 'message_delta':
        this.readEnd(event);
        return 'keep';
      case 'message_stop':
        this.isDone = true;
        return 'drop';
      case 'ping':
        return 'drop';
      default:
        return 'keep';
    }
  }

  private readStart(message: JsonObject, data: string): EventEdit {
    this.usageReader.add(message.usage, { isFinal: false });
    if (!this.started) {
      this.started = true;
      this.events.push(startEvent(message.id));
      this.noteUsageSoFar();
    }
    return { replace: `event: message_start\ndata: ${withModel(data, this.alias)}\n\n` };
  }

  private noteUsageSoFar(): void {
    const usage = this.usageReader.readSoFar();
    if (usage) this.events.push({ type: 'usage', usage, isPartial: true });
  }

  /** Text and reasoning blocks start empty; any other block is content itself. */
  private readBlock(block: JsonObject): void {
    const characters = measureBlock(block);
    this.characters += characters;
    const mayBeEmpty = block.type === 'text' || block.type === 'thinking';
    if (characters > 0 || !mayBeEmpty) this.hasContent = true;
    if (!isSearch(block)) return;
    this.usageReader.addSearch();
    this.noteUsageSoFar();
  }

  private readDelta(delta: JsonObject): void {
    const characters = measureDelta(delta);
    this.characters += characters;
    if (characters > 0 || delta.type === 'signature_delta') this.hasContent = true;
  }

  private readEnd({ delta, usage }: JsonObject): void {
    this.usageReader.add(usage, { isFinal: true });
    this.usage = this.usageReader.read() ?? this.usage;
    const reason = isJsonObject(delta) ? delta.stop_reason : undefined;
    if (typeof reason !== 'string' || reason === '') return;
    this.finished = true;
    this.hasContent = true;
    this.finishReason = mapFinishReason('messages', reason);
  }
}

/** Returns the event with the model's name replaced, at any nesting depth. */
function withModel(data: string, alias: string): string {
  const bytes = Buffer.from(data, 'latin1');
  const members = topLevelMembers(bytes);
  const message = members.findLast(({ key }) => key === 'message');
  if (!message) return data;
  const inner = bytes.subarray(message.valueStart, message.valueEnd);
  const edits = new Map([['model', JSON.stringify(alias)]]);
  const edited = spliceMembers(inner, topLevelMembers(inner), edits);
  return spliceMembers(bytes, members, new Map([['message', edited]])).toString('latin1');
}
