import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ScanUnfinishedError } from './pattern-scan.js';
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
