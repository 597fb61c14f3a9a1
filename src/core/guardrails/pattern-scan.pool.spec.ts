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
/** Takes most of a minute: the position of a match at the end of the largest body. */
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

  it('returns the first match of each pattern', async () => {
    const patterns = [...QUICK.patterns, { pattern: 'c', flags: '' }];
    expect(await pool.search('tenant', { ...QUICK, patterns })).toEqual([
      { start: 1, end: 4 },
      undefined,
    ]);
  });

  it('ends a search after five seconds and continues with the next', async () => {
    const outcome = jest.fn();
    const endless = pool.search('tenant', ENDLESS).catch(outcome);
    const next = pool.search('tenant', QUICK);
    // Another tenant has its own thread and does not wait.
    expect(await pool.search('other', QUICK)).toEqual([{ start: 1, end: 4 }]);
    jest.advanceTimersByTime(TIME_LIMIT_MS - 1);
    expect(await pool.search('other', QUICK)).toEqual([{ start: 1, end: 4 }]);
    expect(outcome).not.toHaveBeenCalled();

    jest.advanceTimersByTime(1);
    await endless;
    expect(outcome).toHaveBeenCalledWith(expect.any(ScanUnfinishedError));
    expect(await next).toEqual([{ start: 1, end: 4 }]);
  });

  it('leaves a tenant its thread when another search is ended with its own', async () => {
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

  describe('with two busy threads', () => {
    const RUNNING = ['one', 'two'];
    /** Outcomes of the searches in the order of their ends. */
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

    it('serves a tenant after one search of another with a hundred queued', async () => {
      const greedy = Array.from({ length: 100 }, (_, index) =>
        note(`greedy ${index}`, pool.search('greedy', QUICK)),
      );
      const modest = note('modest', pool.search('modest', QUICK));
      // The other thread stays busy: either may be slower to start.
      pool.keepOnly('one', new Set());
      jest.advanceTimersByTime(TIME_LIMIT_MS - 1);
      await Promise.all([...greedy, modest]);
      expect(ended.slice(0, 3)).toEqual(['greedy 0', 'modest', 'greedy 1']);
    });

    it('rejects a tenant with too many queued searches, and no other', async () => {
      const waiting = Array.from({ length: 100 }, () => pool.search('greedy', QUICK));
      await expect(pool.search('greedy', QUICK)).rejects.toBeInstanceOf(ScanQueueFullError);
      const modest = pool.search('modest', QUICK);
      jest.advanceTimersByTime(TIME_LIMIT_MS);
      await Promise.all([...waiting, modest]);
    });

    it('drops queued searches of a disconnected caller', async () => {
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

    it('drops queued searches of a removed guardrail only', async () => {
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

  it('frees its thread soon after the caller disconnects or the guardrail is removed', async () => {
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

  it('excludes queueing from the time limit', async () => {
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
