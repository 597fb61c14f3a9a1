import { describe, expect, it, jest } from '@jest/globals';
import { FakeConnection, LONG_LIMITS, readText } from '../../../test/support/fake-connection.js';
import { CallAbortedError, UpstreamResponse } from './upstream-response.js';

const KB = 1024;

describe(UpstreamResponse.name, () => {
  it('resolves with the head and yields the body as it arrives', async () => {
    const connection = new FakeConnection().start().answer(201, { 'x-a': 'b' });
    const response = await connection.head;
    expect(response).toMatchObject({ status: 201, headers: { 'x-a': 'b' } });
    connection.send('a', 'b');
    expect((await response.next()).value).toEqual(Buffer.from('ab'));
    const rest = readText(response);
    connection.send('c').end();
    expect(await rest).toBe('c');
    expect(await response.next()).toEqual({ done: true, value: undefined });
    expect(connection.actions).toEqual([]);
  });

  it('waits for a pending chunk and for the end', async () => {
    const connection = new FakeConnection().start().answer();
    const first = connection.response.next();
    connection.send('late');
    expect((await first).value).toEqual(Buffer.from('late'));
    const second = connection.response.next();
    connection.end();
    expect((await second).done).toBe(true);
  });

  it('yields everything from one socket read in one piece, also to a waiting reader', async () => {
    const connection = new FakeConnection().start().answer();
    const first = connection.response.next();
    connection.send('a', 'b', 'c');
    expect((await first).value).toEqual(Buffer.from('abc'));
    const last = connection.response.next();
    connection.send('d', 'e').end();
    expect((await last).value).toEqual(Buffer.from('de'));
    expect((await connection.response.next()).done).toBe(true);
  });

  it('skips informational heads', async () => {
    const connection = new FakeConnection().start().answer(103, { link: 'x' });
    expect(connection.response.status).toBe(0);
    connection.answer(200);
    expect((await connection.head).status).toBe(200);
  });

  describe('back-pressure', () => {
    it('pauses the vendor at 16 KB of unread data and resumes when it is read', async () => {
      const connection = new FakeConnection().start().answer();
      for (let count = 0; count < 3; count++) connection.send(Buffer.alloc(4 * KB));
      expect(connection.actions).toEqual([]);
      connection.send(Buffer.alloc(4 * KB), Buffer.alloc(4 * KB));
      expect(connection.actions).toEqual(['pause']);
      expect((await connection.response.next()).value).toHaveLength(20 * KB);
      expect(connection.actions).toEqual(['pause', 'resume']);
      for (let count = 0; count < 4; count++) connection.send(Buffer.alloc(4 * KB));
      expect(connection.actions).toEqual(['pause', 'resume', 'pause']);
    });

    it('does not pause while the reader is waiting', async () => {
      const connection = new FakeConnection().start().answer();
      for (let count = 0; count < 4; count++) {
        const chunk = connection.response.next();
        connection.send(Buffer.alloc(300 * KB));
        await chunk;
      }
      expect(connection.actions).toEqual([]);
    });

    it('delivers a paused answer completely', async () => {
      const connection = new FakeConnection().start().answer();
      connection.send(Buffer.alloc(300 * KB), Buffer.alloc(10)).end();
      expect(await readText(connection.response)).toHaveLength(300 * KB + 10);
    });
  });

  describe('abort', () => {
    it('fails before the call and stops undici when it begins', async () => {
      const signal = AbortSignal.abort();
      const connection = new FakeConnection(LONG_LIMITS, { signal });
      expect(connection.response.isOver).toBe(true);
      await expect(connection.head).rejects.toBeInstanceOf(CallAbortedError);
      connection.start();
      expect(connection.reason).toBeInstanceOf(CallAbortedError);
    });

    it('stops undici before the connection is established', async () => {
      const connection = new FakeConnection();
      connection.aborter.abort();
      await expect(connection.head).rejects.toBeInstanceOf(CallAbortedError);
      connection.start();
      expect(connection.actions).toEqual(['abort']);
    });

    it('rejects the call before the head', async () => {
      const connection = new FakeConnection().start();
      connection.aborter.abort();
      await expect(connection.head).rejects.toBeInstanceOf(CallAbortedError);
      expect(connection.actions).toEqual(['abort']);
    });

    it('rejects the waiting reader during the body', async () => {
      const connection = new FakeConnection().start().answer();
      const chunk = connection.response.next();
      connection.aborter.abort();
      await expect(chunk).rejects.toBeInstanceOf(CallAbortedError);
      await expect(connection.response.next()).rejects.toBeInstanceOf(CallAbortedError);
      expect(connection.actions).toEqual(['abort']);
    });

    it('does nothing after the end', async () => {
      const connection = new FakeConnection().start().answer().send('a').end();
      connection.aborter.abort();
      expect(await readText(connection.response)).toBe('a');
      expect(connection.actions).toEqual([]);
    });

    it('ignores further data', () => {
      const connection = new FakeConnection().start().answer();
      connection.aborter.abort();
      for (let count = 0; count < 5; count++) connection.send(Buffer.alloc(100 * KB));
      expect(connection.actions).toEqual(['abort']);
    });

    it('removes its listeners', () => {
      const { signal } = new AbortController();
      const remove = jest.spyOn(signal, 'removeEventListener');
      new FakeConnection(LONG_LIMITS, { signal }).start().answer().end();
      expect(remove).toHaveBeenCalledTimes(1);
    });
  });

  it('closes the connection when its reader leaves early', async () => {
    const connection = new FakeConnection().start().answer().send('a', 'b');
    for await (const chunk of connection.response) {
      expect(chunk.toString()).toBe('ab');
      break;
    }
    expect(connection.actions).toEqual(['abort']);
    connection.response.cancel();
    expect(connection.actions).toEqual(['abort']);
  });

  describe('failures', () => {
    it('reject the call before the head', async () => {
      const connection = new FakeConnection().fail('ECONNREFUSED');
      await expect(connection.head).rejects.toMatchObject({ failure: 'connect' });
    });

    it('follow the chunks received before them', async () => {
      const connection = new FakeConnection().start().answer().send('a', 'b').fail('ECONNRESET');
      expect((await connection.response.next()).value).toEqual(Buffer.from('ab'));
      await expect(connection.response.next()).rejects.toMatchObject({ failure: 'reset' });
    });

    it('count once', async () => {
      const connection = new FakeConnection().start().answer().fail('ECONNRESET').fail('EPIPE');
      connection.end();
      await expect(connection.response.next()).rejects.toThrow('ECONNRESET');
    });
  });

  describe('readAll', () => {
    it('joins the body', async () => {
      const text = Buffer.from('日本');
      const connection = new FakeConnection().start().answer();
      connection.send(text.subarray(0, 2), text.subarray(2)).end();
      expect((await connection.response.readAll(100)).toString()).toBe('日本');
      const empty = new FakeConnection().start().answer().end();
      expect(await empty.response.readAll(100)).toHaveLength(0);
    });

    it('yields to other work before every few large bodies', async () => {
      let turns = 0;
      const turnOf = async (): Promise<number> => {
        const connection = new FakeConnection().start().answer();
        const whole = connection.response.readAll(KB * KB);
        connection.send(Buffer.alloc(512 * KB)).end();
        await whole;
        return turns;
      };
      const count = (): void => {
        turns++;
        if (turns < 100) setImmediate(count);
      };
      count();
      const turnsOfAll = await Promise.all(Array.from({ length: 6 }, turnOf));
      expect(new Set(turnsOfAll).size).toBeGreaterThanOrEqual(3);
    });

    it('stops at the limit and closes the connection', async () => {
      const connection = new FakeConnection().start().answer().send('12345', '67890', '1');
      await expect(connection.response.readAll(10)).rejects.toMatchObject({
        failure: 'unreadable',
        status: 200,
      });
      expect(connection.actions).toEqual(['abort']);
    });
  });

  it('does nothing when a complete answer is drained', () => {
    const connection = new FakeConnection().start().answer().end();
    connection.response.drain();
    connection.response.cancel();
    expect(connection.actions).toEqual([]);
  });
});
