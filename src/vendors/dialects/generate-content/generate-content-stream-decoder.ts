import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { UpstreamError } from '../../upstream-error.js';
import { parseAnswerJson } from '../answer-json.js';
import { normalizeFrames } from '../event-text.js';
import { SseStreamReader } from '../sse-stream-reader.js';
import { AnswerReader } from './answer-reader.js';

/**
 * Reads a whole answer.
 *
 * @throws UpstreamError for an invalid, empty or incomplete answer
 */
export function decodeGenerateContentAnswer(bytes: Buffer): CanonicalEvent[] {
  const events: CanonicalEvent[] = [];
  const reader = new AnswerReader();
  reader.read(parseAnswerJson(bytes.toString('utf8'), 'an answer', 200), events);
  return [...events, ...reader.end()];
}

/** Reads a stream of server-sent events, each in the format of a whole answer. */
export class GenerateContentStreamDecoder extends SseStreamReader {
  private readonly reader = new AnswerReader();

  get isWhole(): boolean {
    return this.reader.isWhole;
  }

  protected read(bytes: Buffer): void {
    for (const frame of normalizeFrames(bytes.toString('utf8')).split('\n\n')) {
      const data = dataOf(frame);
      if (data !== '' && data !== '[DONE]') {
        this.reader.read(parseAnswerJson(data, 'an event'), this.events);
      }
    }
  }

  protected finish(): void {
    try {
      this.events.push(...this.reader.end());
    } catch (error) {
      // An empty stream was interrupted.
      if (!(error instanceof UpstreamError && error.failure === 'unreadable')) throw error;
      throw new UpstreamError({ failure: 'cut', message: 'the stream ended without an answer' });
    }
  }
}

/** Returns the data of one event. An error may come as bare JSON without `data:`. */
function dataOf(frame: string): string {
  if (/^\s*[[{]/.test(frame)) return frame;
  return frame
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length))
    .join('\n')
    .trim();
}
