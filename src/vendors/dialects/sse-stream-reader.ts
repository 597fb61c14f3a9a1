import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { SseFrameBuffer } from '../../platform/http/sse-frame-buffer.js';
import { UpstreamError } from '../upstream-error.js';
import { cutFrames } from './event-text.js';
import type { EventStreamReader } from './read-event-stream.js';

const MAX_FRAME_BYTES = 16 * 1024 * 1024;
const BLANK_LINE = Buffer.from('\n\n');

/**
 * What readers of server-sent events share: bytes are read in whole events, a failure waits until what came
 * before it is passed on, and the last event counts without its blank line when it is whole.
 */
export abstract class SseStreamReader implements EventStreamReader {
  isDone = false;
  failure: UpstreamError | undefined;
  /** What the bytes of the current push have brought so far. */
  protected events: CanonicalEvent[] = [];
  private readonly frames: SseFrameBuffer;

  /** @param maxFrameBytes more than this without a blank line is no event */
  constructor(maxFrameBytes = MAX_FRAME_BYTES) {
    this.frames = new SseFrameBuffer(maxFrameBytes);
  }

  /**
   * Adds to `events` what whole events bring, up to the one that sets `isDone`.
   *
   * @throws UpstreamError for an error among them, or for what is no event
   */
  protected abstract read(bytes: Buffer): void;

  /** Adds what the stream's end brings. @throws UpstreamError `cut` when it ended too early */
  protected abstract finish(): void;

  /** Reads the event at the end of a stream, which may be torn. */
  protected readLast(event: Buffer): void {
    this.read(event);
  }

  /** Adds what `read` has gathered by now, whether it came to its end or not. */
  protected flush(): void {}

  /** Keeps what the vendor did wrong. @throws anything else */
  protected fail(error: unknown): void {
    if (!(error instanceof UpstreamError)) throw error;
    this.failure = error;
  }

  push(chunk: Buffer): CanonicalEvent[] {
    if (this.isDone || this.failure) return [];
    try {
      const bytes = cutFrames(this.frames, chunk);
      if (bytes) this.read(bytes);
    } catch (error) {
      this.fail(error);
    }
    return this.take();
  }

  end(): CanonicalEvent[] {
    if (!this.isDone && !this.failure) this.readRest();
    if (this.failure) throw this.failure;
    this.flush();
    this.finish();
    return this.take();
  }

  private readRest(): void {
    const rest = this.frames.rest();
    if (rest.length === 0) return;
    try {
      this.readLast(Buffer.concat([rest, BLANK_LINE]));
    } catch (error) {
      this.fail(error);
    }
    // It is torn.
    if (this.failure?.failure === 'unreadable') this.failure = undefined;
  }

  private take(): CanonicalEvent[] {
    this.flush();
    const { events } = this;
    // Now rather than with the next bytes, which may be long in coming.
    this.events = [];
    return events;
  }
}
