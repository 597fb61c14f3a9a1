import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { GuardrailGoneError, ScanQueueFullError, ScanUnfinishedError } from './pattern-scan.js';
import { PatternScanPool } from './pattern-scan.pool.js';

const TIME_LIMIT_MS = 5_000;
const QUICK = {
  patterns: [{ pattern: 'b+', flags: '' }],
  texts: ['abbb'],
  from: 0,
  wantsPlace: true,
};
/** Takes its thread most of a minute: the place of a match at the end of what a body may hold. */
const ENDLESS = {
  patterns: [{ pattern: '(a.{0,100}b.{0,100}c.{0,100}d)\\b', flags: 'i' }],
  texts: [`${'abcx '.repeat(4_000_000)}abcd`],
  from: 0,
  wantsPlace: true,
};

describe(PatternScanPool.name, () => {
  let pool: PatternScanPool;

  beforeEach(() => {
    jest.useFakeTimers({
      doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'],
    });
    pool = new PatternScanPool();
  });
  afterEach(async () => {
    jest.useRealTimers();
    await pool.onApplicationShutdown();
  });

  it('tells where each pattern is first found', async () => {
    const patterns = [...QUICK.patterns, { pattern: 'c', flags: '' }];
    expect(await pool.search('tenant', { ...QUICK, patterns })).toEqual([
      { start: 1, end: 4 },
      undefined,
    ]);
  });

  it('ends a search that takes more than five seconds, and goes on with the next', async () => {
    const outcome = jest.fn();
    const endless = pool.search('tenant', ENDLESS).catch(outcome);
    const next = pool.search('tenant', QUICK);
    // Another tenant has a thread of its own, which is not held up.
    expect(await pool.search('other', QUICK)).toEqual([{ start: 1, end: 4 }]);
    jest.advanceTimersByTime(TIME_LIMIT_MS - 1);
    expect(await pool.search('other', QUICK)).toEqual([{ start: 1, end: 4 }]);
    expect(outcome).not.toHaveBeenCalled();

    jest.advanceTimersByTime(1);
    await endless;
    expect(outcome).toHaveBeenCalledWith(expect.any(ScanUnfinishedError));
    expect(await next).toEqual([{ start: 1, end: 4 }]);
  });

  it('leaves a tenant its thread when the search of another was ended with its own', async () => {
    const posted = jest.spyOn(Worker.prototype, 'postMessage');
    await pool.search('other', QUICK);
    const endless = pool.search('tenant', ENDLESS).catch(() => undefined);
    const next = pool.search('tenant', QUICK);
    jest.advanceTimersByTime(TIME_LIMIT_MS);
    await Promise.all([endless, next]);
    await pool.search('other', QUICK);
    const threads = posted.mock.contexts;
    posted.mockRestore();
    expect(threads).toHaveLength(4);
    expect(new Set(threads).size).toBe(3);
    expect(threads[3]).toBe(threads[0]);
  });

  describe('with two threads that are taken', () => {
    const RUNNING = ['one', 'two'];
    /** What became of the searches, in the order in which they ended. */
    let ended: string[];
    const note = (name: string, search: Promise<unknown>): Promise<unknown> =>
      search.then(
        () => ended.push(name),
        (error: Error) => ended.push(`${name}: ${error.message}`),
      );

    beforeEach(() => {
      ended = [];
      for (const tenant of RUNNING) {
        void pool.search(tenant, ENDLESS, { guardrailId: 'endless' }).catch(() => undefined);
      }
    });

    it('lets a tenant wait for one turn of another who has a hundred waiting', async () => {
      const greedy = Array.from({ length: 100 }, (_, index) =>
        note(`greedy ${index}`, pool.search('greedy', QUICK)),
      );
      const modest = note('modest', pool.search('modest', QUICK));
      // The other thread stays taken: of two, either may be the slower one to start.
      pool.keepOnly('one', new Set());
      jest.advanceTimersByTime(TIME_LIMIT_MS - 1);
      await Promise.all([...greedy, modest]);
      expect(ended.slice(0, 3)).toEqual(['greedy 0', 'modest', 'greedy 1']);
    });

    it('refuses a tenant who has too many waiting, and no other', async () => {
      const waiting = Array.from({ length: 100 }, () => pool.search('greedy', QUICK));
      await expect(pool.search('greedy', QUICK)).rejects.toBeInstanceOf(ScanQueueFullError);
      const modest = pool.search('modest', QUICK);
      jest.advanceTimersByTime(TIME_LIMIT_MS);
      await Promise.all([...waiting, modest]);
    });

    it('drops what waits for a caller who has left', async () => {
      const gone = new AbortController();
      await expect(pool.search('x', QUICK, { signal: AbortSignal.abort() })).rejects.toBeInstanceOf(
        ScanUnfinishedError,
      );
      const search = pool.search('x', QUICK, { signal: gone.signal });
      expect(pool.isBusyFor('x')).toBe(true);
      gone.abort();
      await expect(search).rejects.toBeInstanceOf(ScanUnfinishedError);
      expect(pool.isBusyFor('x')).toBe(false);
    });

    it('drops what waits for a guardrail that is gone, and nothing else', async () => {
      const gone = pool.search('x', QUICK, { guardrailId: 'gone' });
      const kept = pool.search('x', QUICK, { guardrailId: 'kept' });
      const others = pool.search('y', QUICK, { guardrailId: 'gone' });
      const measured = pool.measure('x', QUICK.patterns);
      pool.keepOnly('x', new Set(['kept']));
      await expect(gone).rejects.toBeInstanceOf(GuardrailGoneError);
      jest.advanceTimersByTime(TIME_LIMIT_MS);
      expect(await Promise.all([kept, others, measured])).toHaveLength(3);
    });
  });

  it('frees its thread soon after the caller has left, or the guardrail is gone', async () => {
    const gone = new AbortController();
    const left = pool.search('tenant', ENDLESS, { signal: gone.signal });
    const next = pool.search('tenant', QUICK);
    gone.abort();
    await expect(left).rejects.toBeInstanceOf(ScanUnfinishedError);
    jest.advanceTimersByTime(250);
    expect(await next).toEqual([{ start: 1, end: 4 }]);

    const forbidden = pool.search('tenant', ENDLESS, { guardrailId: 'gone' });
    const last = pool.search('tenant', QUICK);
    pool.keepOnly('tenant', new Set());
    await expect(forbidden).rejects.toBeInstanceOf(GuardrailGoneError);
    jest.advanceTimersByTime(250);
    expect(await last).toEqual([{ start: 1, end: 4 }]);
  });

  it('does not count the time that a search waits', async () => {
    const first = pool.search('tenant', ENDLESS).catch((error: unknown) => error);
    const second = pool.search('tenant', ENDLESS).catch((error: unknown) => error);
    let isOver = false;
    void second.then(() => (isOver = true));
    jest.advanceTimersByTime(TIME_LIMIT_MS);
    expect(await first).toBeInstanceOf(ScanUnfinishedError);
    jest.advanceTimersByTime(TIME_LIMIT_MS - 1);
    await pool.search('other', QUICK);
    expect(isOver).toBe(false);
    jest.advanceTimersByTime(1);
    expect(await second).toBeInstanceOf(ScanUnfinishedError);
  });
});
