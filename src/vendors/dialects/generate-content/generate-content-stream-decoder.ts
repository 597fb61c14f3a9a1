import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { SseFrameBuffer } from '../../../platform/http/sse-frame-buffer.js';
import { UpstreamError, unreadable } from '../../upstream-error.js';
import { AnswerReader } from './answer-reader.js';

const MAX_FRAME_BYTES = 16 * 1024 * 1024;

const BYTE_ORDER_MARK = '\ufeff';

/** Reads a stream of server-sent events, each of which has the shape of a whole answer. */
export class GenerateContentStreamDecoder {
  private readonly frames = new SseFrameBuffer(MAX_FRAME_BYTES);
  private readonly reader = new AnswerReader();

  /** An error in the stream or an unreadable event; to be thrown once the events before it are passed on. */
  failure: UpstreamError | undefined;

  /** What the next bytes bring. Sets `failure` rather than throw, so that nothing before it is lost. */
  push(chunk: Buffer): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (this.failure) return events;
    try {
      const bytes = this.cut(chunk);
      if (bytes) this.readFrames(bytes.toString('utf8'), events);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.failure = error;
    }
    return events;
  }

  /**
   * The vendor's stream has ended.
   *
   * @throws UpstreamError `cut` when a choice has not finished, or the `failure` so far
   */
  end(): CanonicalEvent[] {
    if (this.failure) throw this.failure;
    const events: CanonicalEvent[] = [];
    try {
      this.readFrames(this.frames.rest().toString('utf8'), events);
    } catch (error) {
      // An event without its blank line counts when it is whole; a torn one is dropped.
      if (!isUnreadable(error)) throw error;
    }
    try {
      return [...events, ...this.reader.end()];
    } catch (error) {
      // A stream in which nothing came is one that broke off.
      if (!isUnreadable(error)) throw error;
      throw new UpstreamError({ failure: 'cut', message: 'the stream ended without an answer' });
    }
  }

  private cut(chunk: Buffer): Buffer | undefined {
    try {
      return this.frames.push(chunk);
    } catch (error) {
      throw unreadable((error as Error).message);
    }
  }

  private readFrames(received: string, events: CanonicalEvent[]): void {
    let text = received.includes('\r') ? received.replaceAll('\r\n', '\n') : received;
    if (text.startsWith(BYTE_ORDER_MARK)) text = text.slice(BYTE_ORDER_MARK.length);
    for (const frame of text.split('\n\n')) {
      const data = dataOf(frame);
      if (data !== '' && data !== '[DONE]') this.reader.read(parse(data), events);
    }
  }
}

/** The data of one event. An error may come without any `data:` before it, as bare JSON. */
function dataOf(frame: string): string {
  if (/^\s*[[{]/.test(frame)) return frame;
  return frame
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length))
    .join('\n')
    .trim();
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw unreadable(`an event that is not JSON: ${(error as Error).name}`);
  }
}

function isUnreadable(error: unknown): boolean {
  return error instanceof UpstreamError && error.failure === 'unreadable';
}
