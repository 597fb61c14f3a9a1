import { countCodePoints } from '../../../canonical/prompt-size.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import { UpstreamError, unreadable } from '../../upstream-error.js';
import {
  byteOrderMarkLength,
  eventData,
  offsetOfOnly,
  scanJsonString,
  toLatin1,
} from '../event-text.js';
import { objectOf, parseAnswerObject } from '../answer-json.js';
import { SseStreamReader } from '../sse-stream-reader.js';
import { ResponsesDeltaFinder } from './find-responses-delta.js';
import {
  classifyResponseError,
  finishReasonOf,
  isSearch,
  readResponsesUsage,
} from './read-response.js';
import { missingMembers } from './response-defaults.js';
import { EditedBeginning, type ResponseEdits } from './response-edits.js';

const MAX_FRAME_BYTES = 64 * 1024 * 1024;

const EVENT_LINE = 'event: ';
const ITEM_DONE = 'event: response.output_item.done';
const SEARCH = '"web_search_call"';
/** JSON strings always escape raw quotes, so no model can write this. */
const DELTA = '"delta":"';

/** Events that repeat the response object or end the stream; all others are relayed unparsed. */
const READ_EVENTS: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
]);

const NOTHING = Buffer.alloc(0);

/**
 * Relays a Responses stream to a caller of the same dialect. The bytes stay the vendor's, except for edits
 * of its response objects, and are relayed uncopied without edits. Text is handled as Latin-1, one
 * character per byte, which copies instead of decoding.
 */
export class ResponsesStreamRelay extends SseStreamReader {
  private readonly deltas = new ResponsesDeltaFinder();
  private readonly beginning = new EditedBeginning();
  private isStarted = false;
  private searches = 0;
  /** The failure of an `error` event; the `response.failed` that usually follows has more detail. */
  private announced: UpstreamError | undefined;

  // Gathered by the current push:
  private received: Buffer = NOTHING;
  private text = '';
  /** Replaces the text before `keptFrom`; everything after it is relayed unchanged. */
  private output = '';
  private keptFrom = 0;
  private characters = 0;

  /** @param defaults values for members that the vendor omitted from its response objects */
  constructor(
    private readonly edits: ResponseEdits,
    private readonly defaults: ResponseEdits,
  ) {
    super(MAX_FRAME_BYTES);
  }

  protected finish(): void {
    if (this.isDone) return;
    throw (
      this.announced ??
      new UpstreamError({ failure: 'cut', message: 'the stream ended without its last event' })
    );
  }

  protected override readLast(event: Buffer): void {
    // Most events are relayed unparsed, so only their last byte shows whether they are complete.
    if (event.toString('latin1').trimEnd().endsWith('}')) this.read(event);
  }

  protected read(bytes: Buffer): void {
    const received = bytes.toString('latin1');
    const text = received.includes('\r') ? received.replaceAll('\r\n', '\n') : received;
    this.received = text === received ? bytes : Buffer.from(text, 'latin1');
    this.text = text;
    this.output = '';
    this.keptFrom = byteOrderMarkLength(text);
    this.characters = 0;
    this.send(this.readFrames());
    // Release now: the next bytes may take long.
    this.received = NOTHING;
    this.text = '';
  }

  /** Emits everything read up to `end` and not sent yet. */
  private send(end: number): void {
    const bytes = this.takeBytes(end);
    if (bytes.length === 0) return;
    this.events.push({
      type: 'relay',
      dialect: 'responses',
      bytes,
      hasContent: this.characters > 0,
      outputCharacters: this.characters,
    });
    this.characters = 0;
  }

  private takeBytes(end: number): Buffer {
    const { received, text, output, keptFrom } = this;
    this.output = '';
    this.keptFrom = end;
    if (output !== '') return Buffer.from(output + text.slice(keptFrom, end), 'latin1');
    const isWhole = keptFrom === 0 && end === received.length;
    return isWhole ? received : received.subarray(keptFrom, end);
  }

  /** @returns offset after the last event that was read */
  private readFrames(): number {
    const { text } = this;
    let start = this.keptFrom;
    while (start < text.length && !this.isDone) {
      const delta = this.deltas.find(text, start);
      if (delta) {
        this.characters += delta.characters;
        start = delta.end;
        continue;
      }
      const blankLine = text.indexOf('\n\n', start);
      const end = blankLine === -1 ? text.length : blankLine + 2;
      const frame = text.slice(start, blankLine === -1 ? end : blankLine);
      if (frame.startsWith(ITEM_DONE) && frame.includes(SEARCH)) this.countSearch(frame);
      if (blankLine === -1 || !this.passFrame(frame)) {
        const replacement = this.tryFrame(frame, start);
        if (replacement === undefined) return start;
        this.output += text.slice(this.keptFrom, start) + replacement;
        this.keptFrom = end;
      }
      start = end;
    }
    return start;
  }

  /** Returns whether an unparsed event is relayed unchanged, because it has nothing to edit. */
  private passFrame(frame: string): boolean {
    if (!frame.startsWith(EVENT_LINE)) return false;
    const lineEnd = frame.indexOf('\n');
    const name = frame.slice(EVENT_LINE.length, lineEnd);
    if (READ_EVENTS.has(name) || !name.startsWith('response.')) return false;
    // One line of data that agrees with the event's name.
    if (!frame.startsWith(`data: {"type":"${name}"`, lineEnd + 1)) return false;
    if (frame.includes('\n', lineEnd + 1) || !frame.endsWith('}')) return false;
    if (name.endsWith('.delta')) {
      const deltaAt = offsetOfOnly(frame, DELTA);
      if (deltaAt === -1) return false;
      const { end, characters } = scanJsonString(frame, deltaAt + DELTA.length);
      if (end === -1) return false;
      this.characters += characters;
    }
    return true;
  }

  /**
   * @param start offset of the event
   * @returns the event's replacement; undefined when it is or reports a failure
   */
  private tryFrame(frame: string, start: number): string | undefined {
    try {
      return this.readFrame(frame, start);
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  /** Counts searches until the final usage, which includes them. */
  private countSearch(frame: string): void {
    const text = Buffer.from(eventData(frame), 'latin1').toString('utf8');
    if (!isSearch(objectOf(parseAnswerObject(text, 'an event').item))) return;
    this.searches++;
    const usage = { ...NO_USAGE, webSearches: this.searches };
    this.events.push({ type: 'usage', usage, isPartial: true });
  }

  private readFrame(frame: string, start: number): string {
    const data = eventData(frame);
    if (data === '' || data === '[DONE]') return '';
    const repeated = this.beginning.repeat(data);
    if (repeated !== undefined) return repeated;
    const event = parseAnswerObject(Buffer.from(data, 'latin1').toString('utf8'), 'an event');
    return this.readEvent(event, data, start);
  }

  private readEvent(event: JsonObject, data: string, start: number): string {
    const type = String(event.type);
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return this.begin(type, event, data);
      case 'response.completed':
      case 'response.incomplete':
        this.send(start);
        this.complete(type, event);
        return '';
      case 'response.failed':
        throw isJsonObject(event.response) && event.response.error != null
          ? classifyResponseError(event.response.error)
          : (this.announced ?? classifyResponseError(undefined));
      case 'error':
        this.announced = classifyResponseError(event.error ?? event);
        return '';
      default:
        if (event.type === undefined && event.error != null) {
          throw classifyResponseError(event.error);
        }
        if (typeof event.delta === 'string') this.characters += countCodePoints(event.delta);
        return `event: ${toLatin1(type)}\ndata: ${data}\n\n`;
    }
  }

  private begin(type: string, event: JsonObject, data: string): string {
    const response = this.responseOf(event);
    const { id } = response;
    this.edit(response);
    const edited = toLatin1(JSON.stringify(event));
    if (!this.isStarted) {
      this.isStarted = true;
      this.events.push({ type: 'start', ...(typeof id === 'string' && { id }) });
    }
    this.beginning.remember(data, edited);
    return `event: ${type}\ndata: ${edited}\n\n`;
  }

  /** Emits the last event, which its reader holds back until the charge is committed. */
  private complete(type: string, event: JsonObject): void {
    const answer = this.responseOf(event);
    this.edit(answer);
    const finishReason = finishReasonOf(answer);
    if (finishReason === undefined) {
      throw unreadable(`${type} without its status`);
    }
    const usage = readResponsesUsage(answer);
    this.events.push({
      type: 'relay',
      dialect: 'responses',
      bytes: Buffer.from(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`),
      hasContent: true,
      outputCharacters: 0,
      finishReason,
      ...(usage && { usage }),
      answer,
    });
    this.isDone = true;
  }

  /** @throws UpstreamError `unreadable` where the response object is missing */
  private responseOf({ response }: JsonObject): JsonObject {
    if (isJsonObject(response)) return response;
    throw unreadable('an event without its response');
  }

  /** Edits in place: the parsed object is not shared, and copying many members is expensive. */
  private edit(response: JsonObject): void {
    Object.assign(response, missingMembers(response, this.defaults), this.edits);
  }
}
