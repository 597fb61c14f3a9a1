import type { CanonicalEvent, RelayEvent } from '../../../canonical/canonical-event.js';
import type { FinishReason } from '../../../canonical/finish-reason.js';
import type { Usage } from '../../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../../common/http/json-body.js';
import { SseFrameBuffer } from '../../../common/sse/sse-frame-buffer.js';
import { UpstreamError } from '../../upstream-error.js';
import { classifyInlineChatError } from './classify-chat-error.js';
import { measureChatOutput } from './measure-chat-output.js';
import { readChatUsage } from './read-chat-usage.js';
import { scanJsonString } from './scan-json-string.js';

const MAX_FRAME_BYTES = 16 * 1024 * 1024;

const TEXT_DELTA = '"delta":{"content":"';
const USAGE_KEY = '"usage":';
const NULL_USAGE = ',"usage":null';

export interface ChatStreamRelayOptions {
  /** What the answer is to call its model. */
  alias: string;
  /** Whether the caller asked for the usage chunk; it is always asked for upstream. */
  includeUsage: boolean;
}

/**
 * Passes an OpenAI-style chat stream through to a caller of the same dialect.
 *
 * The bytes stay the vendor's, but for the documented edits: the model's name, the usage chunk
 * for who did not ask for it, empty preludes and comments. A chunk that only brings text is never
 * parsed: the few places that matter are found by searching. The needles hold raw quotes, which
 * inside of JSON strings are always escaped, so they cannot be matched by what a model says. Text
 * is handled as Latin-1, one character per byte, which copies instead of decoding.
 */
export class ChatStreamRelay {
  private readonly frames = new SseFrameBuffer(MAX_FRAME_BYTES);
  private readonly modelEdit: string;
  private modelNeedle: string | undefined;
  private started = false;
  private usage: Usage | undefined;
  private usageFrame: string | undefined;
  private finishReason: FinishReason | undefined;
  private readonly seenChoices = new Set<unknown>();
  private readonly finishedChoices = new Set<unknown>();

  // Of the events being gathered by the current push:
  private output = '';
  private hasContent = false;
  private characters = 0;
  private newFinishReason: FinishReason | undefined;
  private events: CanonicalEvent[] = [];

  /** True after `[DONE]`: nothing of interest follows. */
  isDone = false;

  constructor(private readonly options: ChatStreamRelayOptions) {
    this.modelEdit = `"model":${latin1(JSON.stringify(options.alias))}`;
  }

  /** @throws UpstreamError for an error chunk or an unreadable one */
  push(chunk: Buffer): CanonicalEvent[] {
    const bytes = this.cut(chunk);
    return bytes ? this.read(bytes) : [];
  }

  /**
   * The vendor's stream has ended.
   *
   * @throws UpstreamError `cut` when a choice has not finished
   */
  end(): CanonicalEvent[] {
    const events = [...this.read(this.frames.rest())];
    if (this.finishedChoices.size === 0 || this.finishedChoices.size < this.seenChoices.size) {
      throw new UpstreamError({
        failure: 'cut',
        message: 'the stream ended without a finish reason',
      });
    }
    if (this.usageFrame !== undefined && this.options.includeUsage) {
      events.push({ ...this.relay(`data: ${this.usageFrame}\n\n`), usage: this.usage! });
    } else if (this.usage) {
      events.push({ type: 'usage', usage: this.usage });
    }
    return events;
  }

  private cut(chunk: Buffer): Buffer | undefined {
    try {
      return this.frames.push(chunk);
    } catch (error) {
      throw unreadable((error as Error).message);
    }
  }

  private read(bytes: Buffer): CanonicalEvent[] {
    this.events = [];
    this.output = '';
    this.hasContent = false;
    this.characters = 0;
    this.newFinishReason = undefined;

    let text = bytes.toString('latin1');
    if (text.includes('\r')) text = text.replaceAll('\r\n', '\n');
    for (let start = 0; start < text.length;) {
      let end = text.indexOf('\n\n', start);
      if (end === -1) end = text.length;
      this.readFrame(text.slice(start, end));
      start = end + 2;
    }
    if (this.output !== '') this.events.push(this.relay(this.output));
    return this.events;
  }

  private relay(output: string): RelayEvent {
    return {
      type: 'relay',
      dialect: 'chat',
      bytes: Buffer.from(output, 'latin1'),
      hasContent: this.hasContent,
      outputCharacters: this.characters,
      ...(this.newFinishReason !== undefined && { finishReason: this.newFinishReason }),
    };
  }

  private readFrame(frame: string): void {
    if (this.relayTextFrame(frame)) return;
    const data = dataOf(frame);
    if (data === '') return;
    if (data === '[DONE]') {
      this.isDone = true;
      return;
    }
    this.readChunk(data, parseChunk(data));
  }

  /** The hot path: one chunk that brings text to one choice and nothing else. */
  private relayTextFrame(frame: string): boolean {
    if (this.modelNeedle === undefined || !frame.startsWith('data: {')) return false;
    const deltaAt = frame.indexOf(TEXT_DELTA);
    if (deltaAt === -1) return false;
    const { end, characters } = scanJsonString(frame, deltaAt + TEXT_DELTA.length);
    if (end === -1 || frame[end + 1] !== '}') return false;
    if (!frame.includes('"finish_reason":null', end)) return false;
    if (frame.includes('"delta":', end) || frame.includes('\n')) return false;
    const modelAt = frame.indexOf(this.modelNeedle);
    if (modelAt === -1) return false;

    let edited = frame;
    const usageAt = frame.indexOf(USAGE_KEY);
    if (usageAt !== -1) {
      if (!frame.startsWith(NULL_USAGE, usageAt - 1)) return false;
      if (!this.options.includeUsage) edited = frame.replace(NULL_USAGE, '');
    }
    this.output += edited.replace(this.modelNeedle, () => this.modelEdit) + '\n\n';
    this.characters += characters;
    if (characters > 0) this.hasContent = true;
    return true;
  }

  private readChunk(data: string, chunk: JsonObject): void {
    if (chunk.error != null) throw classifyInlineChatError(chunk);
    if (!this.started) {
      this.started = true;
      this.events.push({ type: 'start', ...(typeof chunk.id === 'string' && { id: chunk.id }) });
    }
    const usage = readChatUsage(chunk.usage);
    if (usage) {
      this.usage = usage;
      this.usageFrame = latin1(
        JSON.stringify({ ...chunk, model: this.options.alias, choices: [] }),
      );
    }
    const choices: unknown[] = Array.isArray(chunk.choices) ? chunk.choices : [];
    if (choices.length === 0) return;

    for (const choice of choices) if (isJsonObject(choice)) this.readChoice(choice);
    this.output += `data: ${this.edit(data, chunk)}\n\n`;
  }

  private readChoice(choice: JsonObject): void {
    this.seenChoices.add(choice.index);
    const delta = isJsonObject(choice.delta) ? choice.delta : {};
    const characters = measureChatOutput(delta);
    this.characters += characters;
    if (characters > 0 || Array.isArray(delta.tool_calls) || isJsonObject(delta.audio)) {
      this.hasContent = true;
    }
    if (typeof choice.finish_reason === 'string') {
      this.hasContent = true;
      this.finishedChoices.add(choice.index);
      this.finishReason ??= choice.finish_reason;
      this.newFinishReason = this.finishReason;
    }
  }

  /** The chunk's own text with the edits done; written anew only where searching does not find the places. */
  private edit(data: string, chunk: JsonObject): string {
    const needle = `"model":${latin1(JSON.stringify(chunk.model ?? null))}`;
    const usageIsPlain = chunk.usage === undefined || data.includes(NULL_USAGE);
    if (data.includes(needle) && usageIsPlain) {
      this.modelNeedle = needle;
      const edited = data.replace(needle, () => this.modelEdit);
      return this.options.includeUsage ? edited : edited.replace(NULL_USAGE, '');
    }
    const { usage: _, ...rest } = chunk;
    return latin1(JSON.stringify({ ...rest, model: this.options.alias }));
  }
}

/** The data lines of one event; comments and other fields are left out. */
function dataOf(frame: string): string {
  if (frame.startsWith('data: ') && !frame.includes('\n')) return frame.slice('data: '.length);
  return frame
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(line[5] === ' ' ? 6 : 5))
    .join('\n')
    .trim();
}

function parseChunk(data: string): JsonObject {
  try {
    const chunk: unknown = JSON.parse(Buffer.from(data, 'latin1').toString('utf8'));
    if (isJsonObject(chunk)) return chunk;
  } catch (error) {
    throw unreadable(`a chunk that is not JSON: ${(error as Error).name}`);
  }
  throw unreadable('a chunk that is not a JSON object');
}

function unreadable(message: string): UpstreamError {
  return new UpstreamError({ failure: 'unreadable', message });
}

/** UTF-8 bytes, one per character, as everything in this file. */
function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}
