import type { ServerResponse } from 'node:http';
import { drained } from '../http/drained.js';
import { CallerGoneError } from '../http/read-body.js';

/** After so much silence a comment is sent, so that proxies on the way do not give up. */
const SILENCE_MS = 15_000;

const COMMENT = ': waiting\n\n';

/**
 * Writes server-sent events to a caller. The response head goes out with the first of them, or
 * with the first comment; a slow reader is waited for, and cut off when it stops reading.
 */
export class SseWriter {
  private readonly keepAlive: NodeJS.Timeout;

  constructor(private readonly response: ServerResponse) {
    this.keepAlive = setTimeout(() => this.comment(), SILENCE_MS);
    this.keepAlive.unref();
  }

  /** @throws CallerGoneError when the reader has left or does not read any more */
  async write(events: Buffer | string): Promise<void> {
    if (this.response.destroyed) throw new CallerGoneError();
    this.writeHead();
    this.keepAlive.refresh();
    if (!this.response.write(events)) await drained(this.response);
  }

  /** Ends the response, if its head was sent. */
  end(): void {
    clearTimeout(this.keepAlive);
    if (this.response.headersSent && !this.response.destroyed) this.response.end();
  }

  private comment(): void {
    if (this.response.destroyed) return;
    this.writeHead();
    if (!this.response.writableNeedDrain) this.response.write(COMMENT);
    this.keepAlive.refresh();
  }

  private writeHead(): void {
    if (this.response.headersSent) return;
    this.response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
  }
}
