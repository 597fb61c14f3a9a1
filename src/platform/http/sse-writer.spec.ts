import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CallerGoneError } from './read-body.js';
import { SseWriter } from './sse-writer.js';

/** A response whose reader can stop reading and disconnect. */
class FakeResponse extends EventEmitter {
  headersSent = false;
  destroyed = false;
  ended = false;
  written = '';
  writableLength = 0;
  isFull = false;
  headers: Record<string, string> = {};
  writableEnded = false;
  isConnectionClosed = false;
  readonly socket = {
    destroySoon: () => void (this.isConnectionClosed = true),
    setTimeout: () => undefined,
  };

  get writableNeedDrain(): boolean {
    return this.isFull;
  }

  writeHead(_status: number, headers: Record<string, string>): void {
    this.headersSent = true;
    this.headers = headers;
  }

  write(text: Buffer | string): boolean {
    this.written += text.toString();
    return !this.isFull;
  }

  end(last = ''): void {
    this.written += last;
    this.ended = this.writableEnded = true;
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

describe(SseWriter.name, () => {
  let response: FakeResponse;
  let writer: SseWriter;

  beforeEach(() => {
    jest.useFakeTimers();
    response = new FakeResponse();
    writer = new SseWriter(response as unknown as ServerResponse);
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('sends the head with the first event', async () => {
    expect(response.headersSent).toBe(false);
    await writer.write('data: a\n\n');
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
    });
    await writer.write(Buffer.from('data: b\n\n'));
    writer.end();
    expect(response.written).toBe('data: a\n\ndata: b\n\n');
    expect(response.ended).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('closes the connection after the last events without ending the body', async () => {
    await writer.write('a');
    writer.cut('last');
    expect(response.written).toBe('alast');
    expect([response.ended, response.isConnectionClosed]).toEqual([false, false]);
    jest.runAllTimers();
    expect(response.isConnectionClosed).toBe(true);
    writer.end();
    expect(response.ended).toBe(false);
  });

  it('has nothing to close before its head is sent', () => {
    writer.cut('last');
    expect([response.written, response.headersSent, response.ended]).toEqual(['', false, false]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('sends a comment after 15 s of silence, and one every 15 s', async () => {
    jest.advanceTimersByTime(14_999);
    expect(response.written).toBe('');
    jest.advanceTimersByTime(1);
    expect(response.written).toBe(': waiting\n\n');
    jest.advanceTimersByTime(15_000);
    expect(response.written).toBe(': waiting\n\n'.repeat(2));
    await writer.write('data: a\n\n');
    jest.advanceTimersByTime(14_999);
    expect(response.written).toBe(': waiting\n\n'.repeat(2) + 'data: a\n\n');
  });

  it('does not end a response whose head was not sent, because an error may follow', () => {
    writer.end();
    expect(response.ended).toBe(false);
    jest.advanceTimersByTime(60_000);
    expect(response.written).toBe('');
  });

  it('waits for a slow reader', async () => {
    response.isFull = true;
    let isWritten = false;
    const writing = writer.write('data: a\n\n')!.then(() => (isWritten = true));
    await Promise.resolve();
    expect(isWritten).toBe(false);
    jest.advanceTimersByTime(30_000);
    expect(response.written).toBe('data: a\n\n'); // Without piling up comments meanwhile.
    response.isFull = false;
    response.emit('drain');
    await writing;
    expect(response.listenerCount('drain') + response.listenerCount('close')).toBe(0);
  });

  it('notices a reader that disconnects, now or before', async () => {
    response.isFull = true;
    const writing = expect(writer.write('data: a\n\n')).rejects.toBeInstanceOf(CallerGoneError);
    response.destroy();
    await writing;
    expect(() => writer.write('data: b\n\n')).toThrow(CallerGoneError);
    jest.advanceTimersByTime(15_000);
    writer.end();
    expect(response.written).toBe('data: a\n\n');
    expect(response.ended).toBe(false);
  });
});
