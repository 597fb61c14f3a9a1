import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeConnection, LONG_LIMITS, readText } from '../../../test/support/fake-connection.js';
import { CoarseTimer } from '../../platform/time/coarse-timer.js';
import { UpstreamResponse } from './upstream-response.js';

const KB = 1024;
const timedOut = expect.objectContaining({ failure: 'timeout' }) as unknown;

describe(UpstreamResponse.name, () => {
  describe('time limits', () => {
    const limits = { firstByteMs: 1_000, idleMs: 300, requestMs: 2_000 };
    let timer: CoarseTimer;
    let connection: FakeConnection;

    /** Advances time; deadlines fire within a tick of 100 ms. */
    const pass = (ms: number) => jest.advanceTimersByTime(ms);

    beforeEach(() => {
      jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
      timer = new CoarseTimer();
      connection = new FakeConnection(limits, { timer }).start();
    });

    afterEach(() => {
      jest.useRealTimers();
    });

    it('end a call without a response', async () => {
      pass(999);
      expect(connection.response.isOver).toBe(false);
      pass(101);
      await expect(connection.head).rejects.toMatchObject({
        failure: 'timeout',
        message: 'no response within 1000 ms',
      });
      expect(connection.actions).toEqual(['abort']);
    });

    it('end an answer that stalls', async () => {
      connection.answer().send('a');
      pass(250);
      connection.send('b');
      pass(250);
      expect(connection.response.isOver).toBe(false);
      pass(150);
      expect((await connection.response.next()).value).toEqual(Buffer.from('ab'));
      await expect(connection.response.next()).rejects.toMatchObject({
        failure: 'timeout',
        message: 'no data for 300 ms',
      });
    });

    it('end an answer that does not finish', async () => {
      connection.answer();
      const reading = readText(connection.response).catch((error: unknown) => error);
      for (let elapsedMs = 0; elapsedMs < 2_100; elapsedMs += 100) {
        connection.send('x');
        pass(100);
      }
      expect(await reading).toMatchObject({
        failure: 'timeout',
        message: 'answer not complete within 2000 ms',
      });
    });

    it('end a call whose total limit is shorter than its first-byte limit', async () => {
      const short = new FakeConnection({ ...limits, requestMs: 100 }, { timer }).start();
      pass(200);
      await expect(short.head).rejects.toMatchObject({
        message: 'answer not complete within 100 ms',
      });
    });

    const slowReader = expect.objectContaining({ failure: 'slow_reader' }) as unknown;

    it('do not blame the vendor for a slow reader, and still end the whole call', async () => {
      connection.answer().send(Buffer.alloc(300 * KB));
      pass(1_500);
      expect(connection.response.isOver).toBe(false);
      pass(600);
      expect(connection.response.isOver).toBe(true);
      await connection.response.next();
      await expect(connection.response.next()).rejects.toEqual(slowReader);
    });

    it.each<[string, number, unknown]>([
      ['most of the time', 150, slowReader],
      ['a smaller part of the time', 50, timedOut],
    ])('blame the right side when a reader lagged %s', async (_, lagMs, expected) => {
      connection.answer();
      for (let passed = 0; passed < 1_900; passed += 200) {
        connection.send(Buffer.alloc(300 * KB));
        pass(lagMs);
        await connection.response.next();
        pass(200 - lagMs);
      }
      const next = connection.response.next();
      pass(200);
      await expect(next).rejects.toEqual(expected);
    });

    it.each<[string, number, number, unknown]>([
      ['most of a long call', 0, 6_000, slowReader],
      ['a smaller part of it', 7_000, 6_000, expect.objectContaining({ failure: 'reset' })],
      ['a moment', 0, 4_000, expect.objectContaining({ failure: 'reset' })],
    ])(
      'blame the right side for a lost connection when the reader lagged %s',
      async (_, readMs, lagMs, expected) => {
        connection = new FakeConnection(LONG_LIMITS, { timer }).start().answer();
        pass(readMs);
        connection.send(Buffer.alloc(300 * KB));
        pass(lagMs);
        await connection.response.next();
        const next = connection.response.next();
        connection.fail('ECONNRESET');
        await expect(next).rejects.toEqual(expected);
      },
    );

    it('watch for stalls again once the reader has caught up', async () => {
      connection.answer().send(Buffer.alloc(300 * KB));
      pass(1_000);
      await connection.response.next();
      expect(connection.actions).toEqual(['pause', 'resume']);
      pass(250);
      expect(connection.response.isOver).toBe(false);
      pass(150);
      expect(connection.response.isOver).toBe(true);
    });

    it('are cleared after the end', () => {
      connection.answer().end();
      pass(200);
      expect(jest.getTimerCount()).toBe(0);
      pass(10_000);
      expect(connection.actions).toEqual([]);
    });

    it('allow one second to drain the rest of a complete answer', () => {
      connection.answer().send('data: [DONE]\n\n');
      connection.response.drain();
      pass(900);
      connection.send('x');
      connection.response.cancel();
      expect(connection.actions).toEqual([]);
      pass(200);
      expect(connection.actions).toEqual(['abort']);
    });

    it('keep a drained connection that ends in time', () => {
      connection.answer();
      connection.response.drain();
      connection.end();
      pass(5_000);
      expect(connection.actions).toEqual([]);
      expect(jest.getTimerCount()).toBe(0);
    });

    it('drain a paused connection as well', () => {
      connection.answer().send(Buffer.alloc(300 * KB));
      connection.response.drain();
      expect(connection.actions).toEqual(['pause', 'resume']);
      connection.send(Buffer.alloc(300 * KB));
      expect(connection.actions).toEqual(['pause', 'resume']);
    });
  });
});
