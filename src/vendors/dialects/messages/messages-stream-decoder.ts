import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { SseFrameBuffer } from '../../../platform/http/sse-frame-buffer.js';
import { UpstreamError } from '../../upstream-error.js';
import { dataOfFrame, normalizeFrames } from '../event-text.js';
import { MessagesDeltaFinder } from './find-messages-delta.js';
import { MessagesEventDecoder, type MessagesDecoderOptions } from './decode-messages-event.js';
import { parseMessagesJson } from './classify-messages-error.js';

const MAX_FRAME_BYTES = 16 * 1024 * 1024;

const BACKSLASH = 0x5c;
const SPACE = 0x20;

/**
 * Reads a messages stream into canonical events, for a caller of another dialect. An event that only
 * brings a piece, in which nothing is escaped, is not parsed.
 */
export class MessagesStreamDecoder {
  private readonly frames = new SseFrameBuffer(MAX_FRAME_BYTES);
  private readonly deltas = new MessagesDeltaFinder();
  private readonly decoder: MessagesEventDecoder;

  /** An error event or an unreadable one; to be thrown once the events before it are passed on. */
  failure: UpstreamError | undefined;

  constructor(options: MessagesDecoderOptions) {
    this.decoder = new MessagesEventDecoder(options);
  }

  /** True after `message_stop`: nothing of interest follows. */
  get isDone(): boolean {
    return this.decoder.isDone;
  }

  /** What the next bytes bring. Sets `failure` rather than throw, so that nothing before it is lost. */
  push(chunk: Buffer): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (this.isDone || this.failure) return events;
    try {
      const bytes = this.frames.push(chunk);
      if (bytes) this.read(bytes, events);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.failure = new UpstreamError({ failure: 'unreadable', message: error.message });
    }
    return events;
  }

  /**
   * The vendor's stream has ended.
   *
   * @throws UpstreamError `cut` when it has not said why, or the `failure` so far
   */
  end(): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (!this.isDone && !this.failure) this.readRest(events);
    if (this.failure) throw this.failure;
    if (!this.decoder.hasFinished) {
      throw new UpstreamError({
        failure: 'cut',
        message: 'the stream ended without a stop reason',
      });
    }
    return events;
  }

  /** An event without its blank line counts when it is whole; a torn one is dropped. */
  private readRest(events: CanonicalEvent[]): void {
    this.read(this.frames.rest(), events);
    if (this.failure?.failure === 'unreadable') this.failure = undefined;
  }

  private read(bytes: Buffer, events: CanonicalEvent[]): void {
    // A whole event never ends within a character, so the bytes can be decoded as they are.
    const text = normalizeFrames(bytes.toString('utf8'));
    try {
      for (let start = 0; start < text.length && !this.isDone;) {
        const delta = this.deltas.find(text, start);
        if (delta && isSpelledPlainly(text, delta.valueStart, delta.valueEnd)) {
          const piece = text.slice(delta.valueStart, delta.valueEnd);
          this.decoder.addPiece(delta.index, delta.field, piece, events);
          start = delta.end;
          continue;
        }
        let end = text.indexOf('\n\n', start);
        if (end === -1) end = text.length;
        const data = dataOfFrame(text.slice(start, end));
        if (data !== '') this.decoder.decode(parseMessagesJson(data, 'an event'), events);
        start = end + 2;
      }
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.failure = error;
    }
  }
}

/** Whether a JSON string's text is the string itself. */
function isSpelledPlainly(text: string, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const unit = text.charCodeAt(index);
    // Control characters are not allowed there, which parsing will tell.
    if (unit === BACKSLASH || unit < SPACE) return false;
  }
  return true;
}
