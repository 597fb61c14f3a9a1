import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { countCodePoints } from '../../../canonical/count-code-points.js';
import { isJsonObject, type JsonObject } from '../../../common/http/json-body.js';
import { SseFrameBuffer } from '../../../common/sse/sse-frame-buffer.js';
import { UpstreamError } from '../../upstream-error.js';
import { eventData } from '../chat/event-data.js';
import { offsetOfOnly } from '../chat/offset-of-only.js';
import { parseChatObject } from '../chat/parse-chat-object.js';
import { scanJsonString } from '../chat/scan-json-string.js';
import type { EventStreamReader } from '../read-event-stream.js';
import { classifyResponseError, finishReasonOf, readResponsesUsage } from './read-response.js';
import type { ResponseEdits } from './response-edits.js';

const MAX_FRAME_BYTES = 64 * 1024 * 1024;

const EVENT_LINE = 'event: ';
/** Raw quotes are always escaped inside of JSON strings, so no model can say this. */
const DELTA = '"delta":"';

/** The byte order mark, which a stream may begin with, as three Latin-1 characters. */
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';

/** Events that repeat the response object, or end the stream; all others pass unread. */
const READ_EVENTS: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
]);

/**
 * Passes a Responses stream through to a caller of the same dialect. The bytes stay the vendor's,
 * but for the edits of the response objects in it. Text is handled as Latin-1, one character per
 * byte, which copies instead of decoding.
 */
export class ResponsesStreamRelay implements EventStreamReader {
  isDone = false;
  failure: UpstreamError | undefined;

  private readonly frames = new SseFrameBuffer(MAX_FRAME_BYTES);
  private isStarted = false;
  /** What an `error` event said; the `response.failed` that mostly follows says it better. */
  private announced: UpstreamError | undefined;

  // Of the events being gathered by the current push:
  private output = '';
  private characters = 0;
  private events: CanonicalEvent[] = [];

  constructor(private readonly edits: ResponseEdits) {}

  push(chunk: Buffer): CanonicalEvent[] {
    if (this.isDone || this.failure) return [];
    let bytes: Buffer | undefined;
    try {
      bytes = this.frames.push(chunk);
    } catch (error) {
      this.failure = new UpstreamError({
        failure: 'unreadable',
        message: (error as Error).message,
      });
    }
    return bytes ? this.read(bytes) : [];
  }

  /** @throws UpstreamError `cut` when the last event has not come, or the failure so far */
  end(): CanonicalEvent[] {
    const events = this.isDone || this.failure ? [] : this.readRest();
    if (this.failure) throw this.failure;
    if (this.isDone) return events;
    throw (
      this.announced ??
      new UpstreamError({ failure: 'cut', message: 'the stream ended without its last event' })
    );
  }

  /** An event without its blank line counts when it is whole; a torn one is dropped. */
  private readRest(): CanonicalEvent[] {
    const rest = this.frames.rest();
    const data = eventData(rest.toString('latin1').replaceAll('\r\n', '\n'));
    if (data === '' || !data.endsWith('}')) return [];
    const events = this.read(rest);
    if (this.failure?.failure === 'unreadable') this.failure = undefined;
    return events;
  }

  private read(bytes: Buffer): CanonicalEvent[] {
    this.events = [];
    this.output = '';
    this.characters = 0;
    try {
      this.readFrames(bytes.toString('latin1'));
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.failure = error;
    }
    this.flush();
    return this.events;
  }

  private flush(): void {
    if (this.output === '') return;
    this.events.push({
      type: 'relay',
      dialect: 'responses',
      bytes: Buffer.from(this.output, 'latin1'),
      hasContent: this.characters > 0,
      outputCharacters: this.characters,
    });
    this.output = '';
    this.characters = 0;
  }

  private readFrames(received: string): void {
    let text = received.includes('\r') ? received.replaceAll('\r\n', '\n') : received;
    if (text.startsWith(BYTE_ORDER_MARK)) text = text.slice(BYTE_ORDER_MARK.length);
    for (let start = 0; start < text.length && !this.isDone;) {
      let end = text.indexOf('\n\n', start);
      if (end === -1) end = text.length;
      this.readFrame(text.slice(start, end));
      start = end + 2;
    }
  }

  private readFrame(frame: string): void {
    if (this.passFrame(frame)) return;
    const data = eventData(frame);
    if (data === '' || data === '[DONE]') return;
    const event = parseChatObject(Buffer.from(data, 'latin1').toString('utf8'), 'an event');
    this.readEvent(event, data);
  }

  /** The hot path: an event that is not parsed, since nothing in it is to be edited. */
  private passFrame(frame: string): boolean {
    if (!frame.startsWith(EVENT_LINE)) return false;
    const lineEnd = frame.indexOf('\n');
    const name = frame.slice(EVENT_LINE.length, lineEnd);
    if (READ_EVENTS.has(name) || !name.startsWith('response.')) return false;
    // One line of data, which agrees with the event's name.
    if (!frame.startsWith(`data: {"type":"${name}"`, lineEnd + 1)) return false;
    if (frame.includes('\n', lineEnd + 1)) return false;
    if (name.endsWith('.delta')) {
      const deltaAt = offsetOfOnly(frame, DELTA);
      if (deltaAt === -1) return false;
      const { end, characters } = scanJsonString(frame, deltaAt + DELTA.length);
      if (end === -1) return false;
      this.characters += characters;
    }
    if (!frame.endsWith('}')) return false;
    this.output += frame + '\n\n';
    return true;
  }

  private readEvent(event: JsonObject, data: string): void {
    const type = String(event.type);
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        this.start(event);
        this.write(type, this.edit(event));
        return;
      case 'response.completed':
      case 'response.incomplete':
        this.finish(type, event);
        return;
      case 'response.failed':
        throw isJsonObject(event.response) && event.response.error != null
          ? classifyResponseError(event.response.error)
          : (this.announced ?? classifyResponseError(undefined));
      case 'error':
        this.announced = classifyResponseError(event.error ?? event);
        return;
      default:
        if (event.type === undefined && event.error != null) {
          throw classifyResponseError(event.error);
        }
        if (typeof event.delta === 'string') this.characters += countCodePoints(event.delta);
        this.output += `event: ${latin1(type)}\ndata: ${data}\n\n`;
    }
  }

  private start({ response }: JsonObject): void {
    if (this.isStarted) return;
    this.isStarted = true;
    const id = isJsonObject(response) ? response.id : undefined;
    this.events.push({ type: 'start', ...(typeof id === 'string' && { id }) });
  }

  /** The last event, which its reader keeps back until the charge is committed. */
  private finish(type: string, event: JsonObject): void {
    const edited = this.edit(event);
    const answer = edited.response as JsonObject;
    const finishReason = finishReasonOf(answer);
    if (finishReason === undefined) {
      throw new UpstreamError({ failure: 'unreadable', message: `${type} without its status` });
    }
    this.flush();
    const usage = readResponsesUsage(answer.usage);
    this.events.push({
      type: 'relay',
      dialect: 'responses',
      bytes: Buffer.from(`event: ${type}\ndata: ${JSON.stringify(edited)}\n\n`),
      hasContent: true,
      outputCharacters: 0,
      finishReason,
      ...(usage && { usage }),
      answer,
    });
    this.isDone = true;
  }

  /** @throws UpstreamError `unreadable` where the response object is missing */
  private edit(event: JsonObject): JsonObject {
    if (!isJsonObject(event.response)) {
      throw new UpstreamError({
        failure: 'unreadable',
        message: 'an event without its response',
      });
    }
    return { ...event, response: { ...event.response, ...this.edits } };
  }

  private write(type: string, event: JsonObject): void {
    this.output += `event: ${type}\ndata: ${latin1(JSON.stringify(event))}\n\n`;
  }
}

/** UTF-8 bytes, one per character, as everything in this file. */
function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}
