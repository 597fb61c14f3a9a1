import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { ContentionWindow } from '../queue/contention-window.js';
import { BodyBudget, type BodyShare } from './body-budget.js';
import { CallerGoneError, readBody } from './read-body.js';

/** Builds a request with what reading needs: a stream with headers. */
function requestWith(
  headers: Record<string, string> = {},
  options: { writeContinue?: () => void } = {},
): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), { headers }, options) as PassThrough & IncomingMessage;
}

const read = (request: IncomingMessage, maxBytes = 1_000) => readBody(request, { maxBytes });

describe(readBody.name, () => {
  it('joins the pieces', async () => {
    const request = requestWith();
    const body = read(request);
    request.write('one ');
    request.write('日本');
    request.end(' three');
    expect((await body).toString()).toBe('one 日本 three');
  });

  it('returns a body of one piece uncopied', async () => {
    const request = requestWith();
    const piece = Buffer.from('whole');
    const body = read(request);
    request.end(piece);
    expect(await body).toBe(piece);
  });

  it('returns large bodies intact when many are read concurrently', async () => {
    const pieces = Array.from({ length: 20 }, (_, index) => Buffer.alloc(65_536, index));
    const bodies = Array.from({ length: 12 }, () => {
      const request = requestWith();
      const body = read(request, 2_000_000);
      for (const piece of pieces) request.write(piece);
      request.end();
      return body;
    });
    const whole = Buffer.concat(pieces);
    for (const body of await Promise.all(bodies)) expect(body.equals(whole)).toBe(true);
  });

  /** Reads many bodies concurrently. @returns the turns of the event loop until all are complete */
  async function turnsToRead(
    count: number,
    pieces: number,
    bodyShare?: BodyShare,
  ): Promise<number> {
    const bodies = Array.from({ length: count }, (_, number) => {
      const request = Object.assign(requestWith(), { bodyShare });
      const body = read(request, 2_000_000);
      const whole = Buffer.alloc(pieces * 65_536, number);
      for (let piece = 0; piece < pieces; piece++) {
        request.write(whole.subarray(piece * 65_536, (piece + 1) * 65_536));
      }
      request.end();
      return body.then((read) => expect(read.equals(whole)).toBe(true));
    });
    let turns = 0;
    let isRead = false;
    const countTurns = (): void => {
      turns++;
      if (!isRead) setImmediate(countTurns);
    };
    countTurns();
    await Promise.all(bodies);
    isRead = true;
    return turns;
  }

  it.each<[string, number, number, number, number]>([
    ['large bodies', 30, 10, 31, Infinity],
    ['middling bodies, when there are many', 40, 3, 10, Infinity],
    ['a few middling bodies, which need no turns', 20, 3, 0, 5],
  ])('schedules other work between the pieces of %s', async (_, count, pieces, least, most) => {
    const turns = await turnsToRead(count, pieces);
    expect(turns).toBeGreaterThanOrEqual(least);
    expect(turns).toBeLessThanOrEqual(most);
  });

  it.each([
    ['in turns with pauses while other tenants call', 'b', 20, Infinity],
    ['at once while its tenant calls alone', 'a', 0, 5],
  ])('reads some middling bodies %s', async (_, other, least, most) => {
    const time = new ContentionWindow();
    const share = new BodyBudget(100_000_000, time).shareOf('a');
    time.note('a');
    await new Promise((resolve) => setTimeout(resolve, 300));
    time.note(other);
    const turns = await turnsToRead(20, 3, share);
    expect(turns).toBeGreaterThanOrEqual(least);
    expect(turns).toBeLessThanOrEqual(most);
  });

  it('pauses for as long as many bodies wait, including complete ones', async () => {
    const time = new ContentionWindow();
    const share = new BodyBudget(100_000_000, time).shareOf('a');
    for (const tenant of ['a', 'b']) time.note(tenant);
    const rest = jest.spyOn(globalThis, 'setTimeout');
    await turnsToRead(60, 2, share);
    const rests = rest.mock.calls.filter(([, delayMs]) => delayMs !== undefined && delayMs < 100);
    rest.mockRestore();
    expect(rests.length).toBeGreaterThan(30);
  });

  it('stops reading a large body whose sender disconnects while it waits', async () => {
    const request = requestWith();
    const body = read(request, 2_000_000);
    request.write(Buffer.alloc(300_000));
    await new Promise((resolve) => setImmediate(resolve));
    request.destroy();
    await expect(body).rejects.toBeInstanceOf(CallerGoneError);
  });

  it('returns an empty buffer for a missing body', async () => {
    const request = requestWith();
    request.end();
    expect(await read(request)).toHaveLength(0);
  });

  it('accepts a body of exactly the limit', async () => {
    const request = requestWith({ 'content-length': '1000' });
    request.end(Buffer.alloc(1_000));
    expect(await read(request)).toHaveLength(1_000);
  });

  it('rejects a longer body by its length, without reading it', async () => {
    const writeContinue = jest.fn();
    const request = requestWith({ 'content-length': '3000001' }, { writeContinue });
    await expect(read(request, 3_000_000)).rejects.toMatchObject({
      status: 413,
      param: 'body',
      message: 'The body is larger than 3 MB.',
    });
    expect(writeContinue).not.toHaveBeenCalled();
  });

  it('rejects a body that turns out to be longer, and lets the sender finish', async () => {
    const request = requestWith();
    const body = read(request, 10);
    request.write(Buffer.alloc(11));
    await expect(body).rejects.toMatchObject({ status: 413 });
    request.write(Buffer.alloc(100_000));
    const finished = new Promise((resolve) => request.once('end', resolve));
    request.end();
    await finished;
  });

  it('discards the rest of large bodies in turns, so that other requests are served meanwhile', async () => {
    const ends = Array.from({ length: 20 }, async () => {
      const request = requestWith({ 'content-length': '700000' });
      const refused = expect(read(request, 600_000)).rejects.toMatchObject({ status: 413 });
      for (let piece = 0; piece < 10; piece++) request.write(Buffer.alloc(65_536));
      request.end();
      await refused;
      await new Promise((resolve) => request.once('end', resolve));
    });
    let turns = 0;
    let isOver = false;
    const countTurns = (): void => {
      turns++;
      if (!isOver) setImmediate(countTurns);
    };
    countTurns();
    await Promise.all(ends);
    isOver = true;
    expect(turns).toBeGreaterThan(50);
  });

  describe('with an inspector', () => {
    const inspector = () => {
      const seen: string[] = [];
      const inspect = (piece: Buffer): void => {
        seen.push(piece.toString('latin1'));
        if (seen.length > 3) throw new InvalidRequestError('body', 'Enough.');
      };
      return { seen, inspect };
    };
    const piece = (letter: string) => Buffer.alloc(100_000, letter);

    it('passes it each piece of a large body once, in order, from the first one', async () => {
      const request = requestWith();
      const { seen, inspect } = inspector();
      const body = readBody(request, { maxBytes: 1_000_000, inspector: { inspect } });
      for (const letter of 'abc') request.write(piece(letter));
      request.end();
      expect(await body).toHaveLength(300_000);
      expect(seen.map((text) => text[0])).toEqual(['a', 'b', 'c']);
    });

    it('does not call it for small bodies', async () => {
      const request = requestWith();
      const { seen, inspect } = inspector();
      const body = readBody(request, { maxBytes: 1_000_000, inspector: { inspect } });
      request.end(piece('a'));
      await body;
      expect(seen).toEqual([]);
    });

    it('rejects the body with the error it throws, stores nothing and lets the sender finish', async () => {
      const budget = new BodyBudget(10_000_000);
      const request = Object.assign(requestWith(), { bodyShare: budget.shareOf('tenant') });
      const { inspect } = inspector();
      const body = readBody(request, { maxBytes: 1_000_000, inspector: { inspect } });
      for (const letter of 'abcdefg') request.write(piece(letter));
      request.end();
      await expect(body).rejects.toMatchObject({ status: 400, message: 'Enough.' });
      expect(budget.used).toBe(0);
      await new Promise((resolve) => request.once('end', resolve));
      expect(budget.used).toBe(0);
    });
  });

  it('rejects compressed bodies', async () => {
    await expect(read(requestWith({ 'content-encoding': 'gzip' }))).rejects.toMatchObject({
      status: 415,
      param: 'content-encoding',
      message: expect.stringContaining('"gzip"') as unknown,
    });
    const plain = requestWith({ 'content-encoding': 'identity' });
    plain.end('x');
    expect((await read(plain)).toString()).toBe('x');
  });

  it('sends 100 Continue to a sender that waits for it', async () => {
    const writeContinue = jest.fn();
    const request = requestWith({}, { writeContinue });
    request.end();
    await read(request);
    expect(writeContinue).toHaveBeenCalledTimes(1);
  });

  it('notices a caller that disconnects half-way', async () => {
    const request = requestWith();
    const body = read(request);
    request.write('half');
    request.destroy();
    await expect(body).rejects.toBeInstanceOf(CallerGoneError);
  });

  it('notices a connection that breaks, and survives further errors', async () => {
    const request = requestWith();
    const body = read(request);
    request.emit('error', new Error('ECONNRESET'));
    await expect(body).rejects.toBeInstanceOf(CallerGoneError);
    request.emit('error', new Error('again'));
  });

  it('notices a caller that had disconnected before', async () => {
    const request = requestWith();
    const closed = new Promise((resolve) => request.once('close', resolve));
    request.destroy();
    await closed;
    await expect(read(request)).rejects.toBeInstanceOf(CallerGoneError);
  });

  it('leaves no listener behind', async () => {
    const request = requestWith();
    const names = () => request.eventNames().map(String).sort();
    const before = names();
    const body = read(request);
    request.end('x');
    await body;
    expect(names()).toEqual(before);
  });

  describe('with a slow sender', () => {
    let nowMs = 0;

    beforeEach(() => {
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
      nowMs = performance.now();
    });

    afterEach(() => {
      // The timer that watches all bodies stops when there are none.
      jest.advanceTimersByTime(200);
      expect(jest.getTimerCount()).toBe(0);
      jest.useRealTimers();
    });

    it('rejects one that drips', async () => {
      const request = requestWith();
      const body = read(request, 1_000_000);
      const failed = expect(body).rejects.toMatchObject({ status: 408, param: 'body' });
      for (let second = 0; second < 13; second++) {
        request.write('x');
        await new Promise((resolve) => setImmediate(resolve));
        jest.advanceTimersByTime(1_000);
      }
      await failed;
      await expect(body).rejects.toBeInstanceOf(InvalidRequestError);
      expect(performance.now() - nowMs).toBeLessThan(14_000);
    });

    it('waits for one that keeps the minimum rate', async () => {
      const request = requestWith();
      const body = read(request, 10_000_000);
      for (let second = 0; second < 60; second++) {
        request.write(Buffer.alloc(9_000));
        await new Promise((resolve) => setImmediate(resolve));
        jest.advanceTimersByTime(1_000);
      }
      request.end();
      expect(await body).toHaveLength(60 * 9_000);
    });
  });
});
