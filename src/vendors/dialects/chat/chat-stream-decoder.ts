import type { Usage } from '../../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { ChatChoiceDecoder } from './decode-chat-answer.js';
import {
  classifyInlineChatError,
  assertNotFailed,
  assertFinished,
  haveFinished,
} from './classify-chat-error.js';
import { parseAnswerObject, readChoiceIndex } from '../answer-json.js';
import { eventData, normalizeFrames } from '../event-text.js';
import { SseStreamReader } from '../sse-stream-reader.js';
import { startEvent } from '../vendor-answer.js';
import { readStreamedUsage } from './read-chat-usage.js';

/** Reads a chat stream for a caller of another dialect. Same rules as `ChatStreamRelay`. */
export class ChatStreamDecoder extends SseStreamReader {
  private readonly choices = new Map<number, ChatChoiceDecoder>();
  private started = false;
  private usage: Usage | undefined;

  get isWhole(): boolean {
    return haveFinished(this.choices.size, this.finishedChoices);
  }

  protected finish(): void {
    assertFinished(this.choices.size, this.finishedChoices);
    if (this.usage) this.events.push({ type: 'usage', usage: this.usage });
  }

  protected read(bytes: Buffer): void {
    // A whole event never ends within a character, so its bytes can be decoded directly.
    const text = normalizeFrames(bytes.toString('utf8'));
    for (let start = 0; start < text.length && !this.isDone;) {
      let end = text.indexOf('\n\n', start);
      if (end === -1) end = text.length;
      this.readData(eventData(text.slice(start, end)));
      start = end + 2;
    }
  }

  private readData(data: string): void {
    if (data === '') return;
    if (data === '[DONE]') this.isDone = true;
    else this.readChunk(parseAnswerObject(data, 'a chunk'));
  }

  private readChunk(chunk: JsonObject): void {
    const { events } = this;
    if (chunk.error != null) throw classifyInlineChatError(chunk);
    const usage = readStreamedUsage(chunk);
    this.usage = usage ?? this.usage;
    // A prelude has no choices and nothing else of interest.
    if (!Array.isArray(chunk.choices) || chunk.choices.length === 0) return;
    if (!this.started) {
      this.started = true;
      events.push(startEvent(chunk.id));
    }
    if (usage) events.push({ type: 'usage', usage, isPartial: true });
    for (const choice of chunk.choices) {
      if (!isJsonObject(choice)) continue;
      assertNotFailed(choice);
      this.decoderOf(readChoiceIndex(choice.index)).read(choice, choice.delta, events);
      // Some servers put the usage into the choice.
      this.usage = readStreamedUsage(choice) ?? this.usage;
    }
  }

  private get finishedChoices(): number {
    return [...this.choices.values()].filter((choice) => choice.isFinished).length;
  }

  private decoderOf(index: number): ChatChoiceDecoder {
    const known = this.choices.get(index);
    if (known) return known;
    const decoder = new ChatChoiceDecoder(index);
    this.choices.set(index, decoder);
    return decoder;
  }
}
