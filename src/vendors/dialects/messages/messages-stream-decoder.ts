import { UpstreamError } from '../../upstream-error.js';
import { eventData, normalizeFrames } from '../event-text.js';
import { SseStreamReader } from '../sse-stream-reader.js';
import { MessagesDeltaFinder } from './find-messages-delta.js';
import { MessagesEventDecoder, type MessagesDecoderOptions } from './decode-messages-event.js';
import { parseMessagesJson } from './classify-messages-error.js';

const BACKSLASH = 0x5c;
const SPACE = 0x20;

/**
 * Decodes a messages stream into canonical events, for a caller of another dialect. Events with just a
 * piece and no escapes are not parsed.
 */
export class MessagesStreamDecoder extends SseStreamReader {
  private readonly deltas = new MessagesDeltaFinder();
  private readonly decoder: MessagesEventDecoder;

  constructor(options: MessagesDecoderOptions) {
    super();
    this.decoder = new MessagesEventDecoder(options);
  }

  get isWhole(): boolean {
    return this.decoder.hasFinished;
  }

  protected finish(): void {
    if (this.decoder.hasFinished) return;
    throw new UpstreamError({ failure: 'cut', message: 'the stream ended without a stop reason' });
  }

  protected read(bytes: Buffer): void {
    // A whole event never ends within a character, so its bytes can be decoded directly.
    const text = normalizeFrames(bytes.toString('utf8'));
    for (let start = 0; start < text.length && !this.decoder.isDone;) {
      const delta = this.deltas.find(text, start);
      if (delta && isUnescaped(text, delta.valueStart, delta.valueEnd)) {
        const piece = text.slice(delta.valueStart, delta.valueEnd);
        this.decoder.addPiece(delta.index, delta.field, piece, this.events);
        start = delta.end;
        continue;
      }
      let end = text.indexOf('\n\n', start);
      if (end === -1) end = text.length;
      const data = eventData(text.slice(start, end));
      if (data !== '') this.decoder.decode(parseMessagesJson(data, 'an event'), this.events);
      start = end + 2;
    }
    this.isDone = this.decoder.isDone;
  }
}

/** Returns whether a JSON string equals its source text. */
function isUnescaped(text: string, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const unit = text.charCodeAt(index);
    // Control characters are invalid there; parsing reports them.
    if (unit === BACKSLASH || unit < SPACE) return false;
  }
  return true;
}
