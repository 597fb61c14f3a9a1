import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { SseFrameBuffer } from '../../../platform/http/sse-frame-buffer.js';
import { UpstreamError } from '../../upstream-error.js';
import { parseAnswerJson } from '../answer-json.js';
import { cutFrames, normalizeFrames } from '../event-text.js';
import { AnswerReader } from './answer-reader.js';

const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/**
 * Reads a whole answer.
 *
 * @throws UpstreamError for an answer that is none, that is empty, or that has no end
 */
export function decodeGenerateContentAnswer(bytes: Buffer): CanonicalEvent[] {
  const events: CanonicalEvent[] = [];
  const reader = new AnswerReader();
  reader.read(parseAnswerJson(bytes.toString('utf8'), 'an answer', 200), events);
  return [...events, ...reader.end()];
}

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
      const bytes = cutFrames(this.frames, chunk);
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

  private readFrames(received: string, events: CanonicalEvent[]): void {
    for (const frame of normalizeFrames(received).split('\n\n')) {
      const data = dataOf(frame);
      if (data !== '' && data !== '[DONE]') {
        this.reader.read(parseAnswerJson(data, 'an event'), events);
      }
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

function isUnreadable(error: unknown): boolean {
  return error instanceof UpstreamError && error.failure === 'unreadable';
}
