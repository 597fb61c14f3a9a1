import type { ServerResponse } from 'node:http';
import { ChunkedBody } from './chunked-body.js';
import { drained } from './drained.js';
import { CallerGoneError } from './read-body.js';

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

  /** Ends the response with these events, if its head was sent, and waits for nobody. */
  cut(lastEvents: string): void {
    if (this.isOpen(this.body)) this.body.write(lastEvents);
    this.end();
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
