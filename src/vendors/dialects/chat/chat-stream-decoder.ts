import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import type { Usage } from '../../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { SseFrameBuffer } from '../../../platform/http/sse-frame-buffer.js';
import { UpstreamError, unreadable } from '../../upstream-error.js';
import { ChatChoiceDecoder } from './decode-chat-answer.js';
import { classifyInlineChatError, assertNotFailed, assertFinished } from './classify-chat-error.js';
import { isCount, parseAnswerObject } from '../answer-json.js';
import { cutFrames, eventData, normalizeFrames } from '../event-text.js';
import { startEvent } from '../vendor-answer.js';
import { readStreamedUsage } from './read-chat-usage.js';

const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** More than any vendor gives; an index beyond is a broken one. */
const MAX_CHOICE_INDEX = 127;

/** Reads a chat stream for a caller of another dialect. Same rules as `ChatStreamRelay`. */
export class ChatStreamDecoder {
  private readonly frames = new SseFrameBuffer(MAX_FRAME_BYTES);
  private readonly choices = new Map<number, ChatChoiceDecoder>();
  private started = false;
  private usage: Usage | undefined;

  /** True after `[DONE]`: nothing of interest follows. */
  isDone = false;

  /** An error chunk or an unreadable one; to be thrown once the events before it are passed on. */
  failure: UpstreamError | undefined;

  /** What the next bytes bring. Sets `failure` rather than throw, so that nothing before it is lost. */
  push(chunk: Buffer): CanonicalEvent[] {
    if (this.isDone || this.failure) return [];
    try {
      const bytes = cutFrames(this.frames, chunk);
      return bytes ? this.read(bytes) : [];
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.failure = error;
      return [];
    }
  }

  /**
   * The vendor's stream has ended.
   *
   * @throws UpstreamError `cut` when a choice has not finished, or the `failure` so far
   */
  end(): CanonicalEvent[] {
    const events = this.isDone || this.failure ? [] : this.readRest();
    if (this.failure) throw this.failure;
    const finished = [...this.choices.values()].filter((choice) => choice.isFinished);
    assertFinished(this.choices.size, finished.length);
    if (this.usage) events.push({ type: 'usage', usage: this.usage });
    return events;
  }

  /** An event without its blank line counts when it is whole; a torn one is dropped. */
  private readRest(): CanonicalEvent[] {
    const events = this.read(this.frames.rest());
    if (this.failure?.failure === 'unreadable') this.failure = undefined;
    return events;
  }

  private read(bytes: Buffer): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    try {
      this.readFrames(bytes.toString('utf8'), events);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.failure = error;
    }
    return events;
  }

  private readFrames(received: string, events: CanonicalEvent[]): void {
    const text = normalizeFrames(received);
    for (let start = 0; start < text.length && !this.isDone;) {
      let end = text.indexOf('\n\n', start);
      if (end === -1) end = text.length;
      this.readData(eventData(text.slice(start, end)), events);
      start = end + 2;
    }
  }

  private readData(data: string, events: CanonicalEvent[]): void {
    if (data === '') return;
    if (data === '[DONE]') this.isDone = true;
    else this.readChunk(parseAnswerObject(data, 'a chunk'), events);
  }

  private readChunk(chunk: JsonObject, events: CanonicalEvent[]): void {
    if (chunk.error != null) throw classifyInlineChatError(chunk);
    const usage = readStreamedUsage(chunk);
    this.usage = usage ?? this.usage;
    // A prelude brings no choices, and nothing else of interest.
    if (!Array.isArray(chunk.choices) || chunk.choices.length === 0) return;
    if (!this.started) {
      this.started = true;
      events.push(startEvent(chunk.id));
    }
    if (usage) events.push({ type: 'usage', usage, isPartial: true });
    for (const choice of chunk.choices) {
      if (!isJsonObject(choice)) continue;
      assertNotFailed(choice);
      this.decoderOf(choice.index ?? 0).read(choice, choice.delta, events);
      // Some servers put the usage into the choice.
      this.usage = readStreamedUsage(choice) ?? this.usage;
    }
  }

  private decoderOf(index: unknown): ChatChoiceDecoder {
    if (!isCount(index, MAX_CHOICE_INDEX)) throw unreadable('a choice with a broken index');
    const known = this.choices.get(index);
    if (known) return known;
    const decoder = new ChatChoiceDecoder(index);
    this.choices.set(index, decoder);
    return decoder;
  }
}
