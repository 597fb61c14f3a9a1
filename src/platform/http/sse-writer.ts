import type { ServerResponse } from 'node:http';
import { drained } from './drained.js';
import { CallerGoneError } from './read-body.js';

/** Larger pieces are handed on as they are: it is not worth copying them. */
const LARGEST_JOINED_BYTES = 8 * 1024;

/** So long after its last words a response that failed is cut. */
const CUT_AFTER_MS = 20;

const LAST_CHUNK = '0\r\n\r\n';

/**
 * The body of a response in pieces of unknown number. Node writes a piece of a chunked body in four
 * parts (its size, a line end, the piece, a line end), gathers them and has the kernel put them
 * together; small pieces are framed here instead and leave in one part, which takes half the time.
 * Callers see the same bytes.
 */
export class ChunkedBody {
  /** False where Node frames nothing: towards HTTP/1.0 the body ends with the connection. */
  private readonly isFramed: boolean;

  /** @param response whose head has been written, without a length */
  constructor(private readonly response: ServerResponse) {
    this.isFramed = response.chunkedEncoding;
    response.chunkedEncoding = false;
  }

  /** Writes a piece. @returns false when the reader lags, until `drain` */
  write(piece: Buffer | string): boolean {
    if (piece.length === 0) return true;
    const { response } = this;
    if (!this.isFramed) return response.write(piece);
    // Or Node would wait until its next tick for more to put together.
    response.cork();
    const takesMore = this.writeFramed(piece);
    response.uncork();
    return takesMore;
  }

  end(): void {
    if (this.isFramed) this.response.end(LAST_CHUNK, 'latin1');
    else this.response.end();
  }

  /**
   * Ends the response without the end of its body, so that no client takes what came for all of it, and
   * closes the connection. For the service the response has ended like any other.
   */
  breakOff(): void {
    const { response } = this;
    const { socket } = response;
    response.end();
    // What was written goes out before; who reads it by then hears of the failure first.
    const close = setTimeout(() => socket?.destroySoon(), CUT_AFTER_MS);
    close.unref();
  }

  private writeFramed(piece: Buffer | string): boolean {
    const { response } = this;
    if (typeof piece === 'string') {
      return response.write(`${sizeOf(Buffer.byteLength(piece))}${piece}\r\n`);
    }
    if (piece.length <= LARGEST_JOINED_BYTES) {
      // One character per byte: Node writes such a string without another copy.
      return response.write(`${sizeOf(piece.length)}${piece.toString('latin1')}\r\n`, 'latin1');
    }
    response.write(sizeOf(piece.length), 'latin1');
    response.write(piece);
    return response.write('\r\n', 'latin1');
  }
}

/** A server-sent event without a name. @param data JSON */
export function sseOf(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** After so much silence a comment is sent, so that proxies on the way do not give up. */
const SILENCE_MS = 15_000;

const COMMENT = ': waiting\n\n';

/**
 * Writes server-sent events to a caller. The response head goes out with the first of them, or
 * with the first comment; a slow reader is waited for, and cut off when it stops reading.
 */
export class SseWriter {
  private readonly keepAlive: NodeJS.Timeout;
  private body: ChunkedBody | undefined;

  constructor(private readonly response: ServerResponse) {
    this.keepAlive = setTimeout(() => this.comment(), SILENCE_MS);
    this.keepAlive.unref();
  }

  /**
   * Writes events. Undefined when the reader takes them at once, else a promise to be waited for.
   *
   * @throws CallerGoneError when the reader has left; the promise when he does not read any more
   */
  write(events: Buffer | string): Promise<void> | undefined {
    if (this.response.destroyed || this.response.writableEnded) throw new CallerGoneError();
    const body = this.begin();
    this.keepAlive.refresh();
    return body.write(events) ? undefined : drained(this.response);
  }

  /** Ends the response, if its head was sent. */
  end(): void {
    clearTimeout(this.keepAlive);
    if (this.isOpen(this.body)) this.body.end();
  }

  /** Breaks the response off after these events, if its head was sent, and waits for nobody. */
  cut(lastEvents: string): void {
    clearTimeout(this.keepAlive);
    if (!this.isOpen(this.body)) return;
    this.body.write(lastEvents);
    this.body.breakOff();
  }

  private comment(): void {
    if (this.response.destroyed) return;
    const body = this.begin();
    if (!this.response.writableNeedDrain) body.write(COMMENT);
    this.keepAlive.refresh();
  }

  private isOpen(body: ChunkedBody | undefined): body is ChunkedBody {
    return body !== undefined && !this.response.destroyed && !this.response.writableEnded;
  }

  private begin(): ChunkedBody {
    if (this.body) return this.body;
    this.response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    this.body = new ChunkedBody(this.response);
    return this.body;
  }
}

function sizeOf(bytes: number): string {
  return `${bytes.toString(16)}\r\n`;
}
