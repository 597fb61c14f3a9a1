import { describe, expect, it } from '@jest/globals';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { UpstreamResponse } from '../transport/upstream-response.js';
import { UpstreamError } from '../upstream-error.js';
import { readEventStream, type EventStreamReader } from './read-event-stream.js';

const text = (value: string): CanonicalEvent => ({ type: 'text', choice: 0, text: value });

/** A response made of given pieces that records how it was treated. */
class FakeResponse {
  headers = { 'content-type': 'text/event-stream' };
  cancelled = 0;
  drained = 0;

  constructor(private readonly pieces: (string | Buffer | Error)[]) {}

  next(): Promise<IteratorResult<Buffer>> {
    const piece = this.pieces.shift();
    if (piece instanceof Error) return Promise.reject(piece);
    return Promise.resolve(
      piece === undefined
        ? { done: true, value: undefined }
        : { done: false, value: typeof piece === 'string' ? Buffer.from(piece) : piece },
    );
  }

  cancel(): void {
    this.cancelled++;
  }

  drain(): void {
    this.drained++;
  }
}

/** Emits an event per letter; `!` fails after those before it, `;` completes the answer, `.` ends the stream. */
class LetterReader implements EventStreamReader {
  failure: UpstreamError | undefined;
  isDone = false;
  isWhole = false;

  push(piece: Buffer): CanonicalEvent[] {
    const letters = [...piece.toString()];
    if (letters.includes('?')) throw new TypeError('a defect');
    if (letters.includes('!')) {
      this.failure = new UpstreamError({ failure: 'cut', message: 'a break' });
    }
    this.isDone = letters.includes('.');
    this.isWhole ||= this.isDone || letters.includes(';');
    return letters.filter((letter) => /\w/.test(letter)).map(text);
  }

  end(): CanonicalEvent[] {
    if (!this.isWhole) throw new UpstreamError({ failure: 'cut', message: 'no end' });
    return [text('end')];
  }
}

function read(
  response: FakeResponse,
  reader: EventStreamReader = new LetterReader(),
): AsyncIterableIterator<CanonicalEvent> {
  return readEventStream(
    response as unknown as UpstreamResponse,
    reader,
    (failure) => new Error(`wrapped: ${(failure as Error).message}`, { cause: failure }),
  );
}

async function pull(events: AsyncIterableIterator<CanonicalEvent>): Promise<string> {
  let seen = '';
  try {
    for await (const event of events) seen += event.type === 'text' ? event.text : event.type;
  } catch (error) {
    seen += ` ${(error as Error).message}`;
  }
  return seen;
}

describe(readEventStream.name, () => {
  it('yields every event of every piece and drains the connection', async () => {
    const response = new FakeResponse(['ab', '', 'c', '.']);
    expect(await pull(read(response))).toBe('abcend');
    expect(response).toMatchObject({ drained: 1, cancelled: 0 });
  });

  it.each([
    ['a failure', ['ab', 'c!', 'd'], 'abc wrapped: a break'],
    ['a defect', ['ab', '?', 'd'], 'ab wrapped: a defect'],
    ['a connection error', ['ab', new Error('reset')], 'ab wrapped: reset'],
    ['an early end', ['ab'], 'ab wrapped: no end'],
  ])('yields the events before %s, then throws and closes', async (_, pieces, seen) => {
    const response = new FakeResponse(pieces);
    const events = read(response);
    expect(await pull(events)).toBe(seen);
    expect(response.cancelled).toBe(1);
    expect((await events.next()).done).toBe(true);
  });

  it('completes a whole answer even if its connection is lost afterwards', async () => {
    const reset = new UpstreamError({ failure: 'reset', message: 'reset' });
    expect(await pull(read(new FakeResponse(['ab;', reset])))).toBe('abend');
    expect(await pull(read(new FakeResponse(['ab', reset])))).toBe('ab wrapped: reset');
    expect(await pull(read(new FakeResponse(['ab;', new Error('left')])))).toBe('ab wrapped: left');
  });

  it('closes the connection when the iteration is left', async () => {
    const response = new FakeResponse(['ab', 'c']);
    const events = read(response);
    await events.next();
    await events.return?.();
    expect(response.cancelled).toBe(1);
    expect((await events.next()).done).toBe(true);
  });

  it('gives up on a stream that sends many bytes without an event', async () => {
    const comments = Buffer.alloc(16 * 1024 * 1024, ':');
    const response = new FakeResponse(Array<Buffer>(20).fill(comments));
    const pushed: Buffer[] = [];
    const reader: EventStreamReader = {
      failure: undefined,
      push: (piece) => (pushed.push(piece) === 4 ? [text('a')] : []),
      end: () => [],
    };
    expect(await pull(read(response, reader))).toBe('a wrapped: 134217728 bytes without an event');
    expect(pushed).toHaveLength(4 + 9);
    expect(response.cancelled).toBe(1);
  });

  it('rejects other content types', () => {
    const response = new FakeResponse([]);
    response.headers['content-type'] = 'text/html';
    expect(() => read(response)).toThrow(UpstreamError);
  });
});
