import type { ServerResponse } from 'node:http';
import { drained } from './drained.js';
import { CallerGoneError } from './read-body.js';

/** Gives clients time to read the last event before they see the connection close. */
const CUT_AFTER_MS = 20;
/** Sends a comment after this much silence, so that proxies keep the connection open. */
const SILENCE_MS = 15_000;

const COMMENT = ': waiting\n\n';

/** A server-sent event without a name. @param data JSON */
export function sseOf(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/**
 * Writes server-sent events to a caller. The response head goes out with the first event or the first
 * comment. Waits for slow readers, and drops those that stop reading.
 */
export class SseWriter {
  private readonly keepAlive: NodeJS.Timeout;
  private isCut = false;

  constructor(private readonly response: ServerResponse) {
    this.keepAlive = setTimeout(() => this.comment(), SILENCE_MS);
    this.keepAlive.unref();
  }

  /**
   * Writes events. Returns a promise to wait for when the reader lags.
   *
   * @throws CallerGoneError when the reader has left; the promise rejects with it when the reader stops reading
   */
  write(events: Buffer | string): Promise<void> | undefined {
    if (this.response.destroyed || this.response.writableEnded) throw new CallerGoneError();
    this.begin();
    this.keepAlive.refresh();
    return events.length === 0 || this.response.write(events) ? undefined : drained(this.response);
  }

  /** Ends the response, if its head was sent. */
  end(): void {
    clearTimeout(this.keepAlive);
    if (this.isOpen()) this.response.end();
  }

  /**
   * Sends these last events and closes the connection without ending the body, so that no client takes the
   * answer for complete. Does nothing before the head was sent.
   */
  cut(lastEvents: string): void {
    clearTimeout(this.keepAlive);
    if (!this.isOpen()) return;
    this.isCut = true;
    this.response.write(lastEvents);
    const { socket } = this.response;
    setTimeout(() => socket?.destroySoon(), CUT_AFTER_MS).unref();
  }

  private comment(): void {
    if (this.response.destroyed) return;
    this.begin();
    if (!this.response.writableNeedDrain) this.response.write(COMMENT);
    this.keepAlive.refresh();
  }

  private isOpen(): boolean {
    const { destroyed, headersSent, writableEnded } = this.response;
    return headersSent && !destroyed && !writableEnded && !this.isCut;
  }

  private begin(): void {
    if (this.response.headersSent) return;
    this.response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
  }
}
