import type { RelayEvent, FinishReason } from '../../../canonical/canonical-event.js';
import type { Usage } from '../../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import {
  classifyInlineChatError,
  assertNotFailed,
  assertFinished,
  haveFinished,
} from './classify-chat-error.js';
import {
  eventData,
  normalizeFrames,
  offsetOfOnly,
  scanJsonString,
  spliceLatin1,
  startsWithAt,
  toLatin1,
} from '../event-text.js';
import { SseStreamReader } from '../sse-stream-reader.js';
import { startEvent } from '../vendor-answer.js';
import { findTextDelta, type TextDelta } from './find-text-delta.js';
import { parseAnswerObject, readChoiceIndex } from '../answer-json.js';
import { mapFinishReason } from '../map-finish-reason.js';
import { isWholeUsage, readStreamedUsage, measureChatOutput } from './read-chat-usage.js';

/** Searched for without the opening quote; see `findTextDelta`. */
const USAGE_KEY = 'usage":';
/** Vendors put this into every chunk before the usage chunk; some clients reject null. */
const NULL_USAGE = ',"usage":null';

export interface ChatStreamRelayOptions {
  /** The model name for the answer. */
  alias: string;
  /** True when the caller requested the usage chunk. The vendor is always asked for it. */
  includeUsage: boolean;
}

/** The bytes around the text of a stream's chunks, as received and as relayed. */
interface TextTemplate {
  head: string;
  tail: string;
  editedHead: string;
  editedTail: string;
}

/**
 * Relays an OpenAI-style chat stream to a caller of the same dialect.
 *
 * The bytes stay the vendor's, except for the documented edits: the model's name, usage chunks that were
 * not requested, empty preludes and comments. Chunks with only text are never parsed: the few relevant
 * places are found by searching. Text is handled as Latin-1, one character per byte, which copies instead
 * of decoding.
 */
export class ChatStreamRelay extends SseStreamReader {
  private readonly aliasJson: string;
  private readonly modelEdit: string;
  private modelNeedle: string | undefined;
  private template: TextTemplate | undefined;
  private started = false;
  private usage: Usage | undefined;
  private usageChunk: string | undefined;
  private finishReason: FinishReason | undefined;
  private readonly seenChoices = new Set<number>();
  private readonly finishedChoices = new Set<number>();

  // Gathered by the current push:
  private output = '';
  private hasContent = false;
  private characters = 0;
  private newFinishReason: FinishReason | undefined;
  private isReworded = false;

  constructor(private readonly options: ChatStreamRelayOptions) {
    super();
    this.aliasJson = JSON.stringify(options.alias);
    this.modelEdit = `model":${toLatin1(this.aliasJson)}`;
  }

  get isWhole(): boolean {
    return haveFinished(this.seenChoices.size, this.finishedChoices.size);
  }

  protected finish(): void {
    assertFinished(this.seenChoices.size, this.finishedChoices.size);
    const isWanted = this.options.includeUsage && isWholeUsage(this.usage);
    if (this.usageChunk !== undefined && isWanted) {
      const edits = this.modelOnly().set('choices', '[]');
      const relay = this.relay(`data: ${spliceLatin1(this.usageChunk, edits)}\n\n`);
      this.events.push({ ...relay, usage: this.usage! });
    } else if (this.usage) {
      this.events.push({ type: 'usage', usage: this.usage });
    }
  }

  protected override readLast(event: Buffer): void {
    // Completeness can only be determined by parsing.
    this.modelNeedle = undefined;
    this.template = undefined;
    this.read(event);
  }

  protected override flush(): void {
    if (this.output !== '') this.events.push(this.relay(this.output));
    this.output = '';
    this.hasContent = false;
    this.characters = 0;
    this.newFinishReason = undefined;
  }

  private relay(output: string): RelayEvent {
    const event: RelayEvent = {
      type: 'relay',
      dialect: 'chat',
      bytes: Buffer.from(output, 'latin1'),
      hasContent: this.hasContent,
      outputCharacters: this.characters,
    };
    if (this.newFinishReason !== undefined) event.finishReason = this.newFinishReason;
    return event;
  }

  protected read(bytes: Buffer): void {
    const text = normalizeFrames(bytes.toString('latin1'));
    for (let start = 0; start < text.length && !this.isDone;) {
      let end = text.indexOf('\n\n', start);
      if (end === -1) end = text.length;
      this.readFrame(text.slice(start, end));
      start = end + 2;
    }
  }

  private readFrame(frame: string): void {
    if (this.relayByTemplate(frame) || this.relayTextFrame(frame)) return;
    const data = eventData(frame);
    if (data === '') return;
    if (data === '[DONE]') {
      this.isDone = true;
      return;
    }
    const text = Buffer.from(data, 'latin1').toString('utf8');
    this.readChunk(data, parseAnswerObject(text, 'a chunk'));
  }

  /** Hottest path: a chunk equal to the one before except for its text. */
  private relayByTemplate(frame: string): boolean {
    const { template } = this;
    if (!template || !startsWithAt(frame, template.head, 0)) return false;
    if (!startsWithAt(frame, template.tail, frame.length - template.tail.length)) return false;
    const start = template.head.length;
    const { end, characters } = scanJsonString(frame, start);
    if (end !== frame.length - template.tail.length) return false;
    this.output += template.editedHead + frame.slice(start, end) + template.editedTail;
    this.characters += characters;
    if (characters > 0) this.hasContent = true;
    return true;
  }

  /** Edits the common part of a stream's chunks once for all of them. */
  private learnTemplate(frame: string, { start, end }: TextDelta): void {
    const head = frame.slice(0, start);
    const tail = frame.slice(end);
    // JSON cannot contain a raw control character, so it can mark the text's place.
    const edited = this.editBySearch(`${head}\u0000${tail}`)?.split('\u0000');
    if (edited?.length !== 2) return;
    this.template = { head, tail, editedHead: edited[0]!, editedTail: `${edited[1]}\n\n` };
  }

  /** Hot path: a chunk that needs no parsing. */
  private relayTextFrame(frame: string): boolean {
    if (this.modelNeedle === undefined) return false;
    const delta = findTextDelta(frame);
    const edited = delta && this.editBySearch(frame);
    if (delta === undefined || edited === undefined) return false;
    this.learnTemplate(frame, delta);
    this.output += edited + '\n\n';
    this.characters += delta.characters;
    if (delta.characters > 0) this.hasContent = true;
    this.seenChoices.add(0);
    return true;
  }

  private readChunk(data: string, chunk: JsonObject): void {
    if (chunk.error != null) throw classifyInlineChatError(chunk);
    const choices: unknown[] = Array.isArray(chunk.choices) ? chunk.choices : [];
    for (const choice of choices) if (isJsonObject(choice)) this.readChoice(choice);
    const usage = readStreamedUsage(chunk);
    if (usage) {
      this.usage = usage;
      this.usageChunk = isJsonObject(chunk.usage) ? data : undefined;
    }
    if (choices.length === 0) return;

    if (!this.started) {
      this.started = true;
      this.events.push(startEvent(chunk.id));
    }
    if (usage) this.events.push({ type: 'usage', usage, isPartial: true });
    this.output += `data: ${this.edit(data, chunk)}\n\n`;
  }

  private readChoice(choice: JsonObject): void {
    assertNotFailed(choice);
    const index = readChoiceIndex(choice.index);
    this.seenChoices.add(index);
    const delta = isJsonObject(choice.delta) ? choice.delta : {};
    const characters = measureChatOutput(delta);
    this.characters += characters;
    if (characters > 0 || Array.isArray(delta.tool_calls) || isJsonObject(delta.audio)) {
      this.hasContent = true;
    }
    // Some servers send an empty reason for "not yet" …
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') {
      this.hasContent = true;
      this.finishedChoices.add(index);
      const reason = mapFinishReason('chat', choice.finish_reason);
      this.isReworded ||= reason !== choice.finish_reason;
      choice.finish_reason = reason;
      this.finishReason ??= reason;
      this.newFinishReason = this.finishReason;
    }
    // … and some put the usage into the choice.
    const usage = readStreamedUsage(choice);
    if (!usage) return;
    this.usage = usage;
    this.usageChunk = undefined;
  }

  /** Returns the chunk with the edits applied; learns how this vendor formats its model name. */
  private edit(data: string, chunk: JsonObject): string {
    this.modelNeedle = `model":${toLatin1(JSON.stringify(String(chunk.model)))}`;
    const edited = this.isReworded ? undefined : this.editBySearch(data);
    if (edited !== undefined) return edited;
    const edits = this.modelOnly();
    if (this.isReworded) edits.set('choices', JSON.stringify(chunk.choices));
    this.isReworded = false;
    edits.set('usage', undefined);
    return spliceLatin1(data, edits);
  }

  /** Returns the edited text; undefined when the edits require parsing. */
  private editBySearch(text: string): string | undefined {
    const needle = this.modelNeedle ?? '';
    const modelAt = offsetOfOnly(text, needle);
    if (modelAt === -1) return undefined;
    const before = text.slice(0, modelAt) + this.modelEdit;
    const afterModel = modelAt + needle.length;
    if (!text.includes(USAGE_KEY)) return before + text.slice(afterModel);

    const usageAt = offsetOfOnly(text, USAGE_KEY) - ',"'.length;
    if (usageAt < afterModel || !text.startsWith(NULL_USAGE, usageAt)) return undefined;
    return before + text.slice(afterModel, usageAt) + text.slice(usageAt + NULL_USAGE.length);
  }

  private modelOnly(): Map<string, string | undefined> {
    return new Map([['model', this.aliasJson]]);
  }
}
