import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { SseFrameBuffer } from '../../platform/http/sse-frame-buffer.js';
import { UpstreamError } from '../upstream-error.js';
import { cutFrames } from './event-text.js';
import type { EventStreamReader } from './read-event-stream.js';

const MAX_FRAME_BYTES = 16 * 1024 * 1024;
const BLANK_LINE = Buffer.from('\n\n');

/**
 * Base of server-sent event readers. Reads bytes in whole events, reports a failure only after the events
 * before it, and accepts a complete last event without its blank line.
 */
export abstract class SseStreamReader implements EventStreamReader {
  isDone = false;
  failure: UpstreamError | undefined;
  /** Events of the current push so far. */
  protected events: CanonicalEvent[] = [];
  private readonly frames: SseFrameBuffer;

  /** @param maxFrameBytes longest event */
  constructor(maxFrameBytes = MAX_FRAME_BYTES) {
    this.frames = new SseFrameBuffer(maxFrameBytes);
  }

  /**
   * Appends the events of whole frames to `events`, up to the one that sets `isDone`.
   *
   * @throws UpstreamError for an error among them, or for an invalid event
   */
  protected abstract read(bytes: Buffer): void;

  /** Appends the events of the stream's end. @throws UpstreamError `cut` when it ended too early */
  protected abstract finish(): void;

  /** Reads the event at the end of a stream, which may be truncated. */
  protected readLast(event: Buffer): void {
    this.read(event);
  }

  /** Appends what `read` has gathered so far, whether it completed or not. */
  protected flush(): void {}

  /** Stores an UpstreamError as the failure. @throws anything else */
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
    // The last event was truncated.
    if (this.failure?.failure === 'unreadable') this.failure = undefined;
  }

  private take(): CanonicalEvent[] {
    this.flush();
    const { events } = this;
    // Release now: the next bytes may take long.
    this.events = [];
    return events;
  }
}
