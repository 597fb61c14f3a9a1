import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { HOUR_MS } from './dates.js';
import { Retention } from './retention.js';

const NOW = new Date('2026-03-31T12:00:00.000Z');

class Letters extends Retention {
  readonly sweeps: Date[] = [];

  constructor(
    keptDays: number,
    private readonly next: () => Promise<number | undefined>,
  ) {
    super('letters', () => keptDays);
  }

  protected sweepBefore(before: Date): Promise<number> {
    this.sweeps.push(before);
    return this.inBatches(this.next);
  }
}

/** Returns batches of these sizes, then none. */
function batches(...sizes: number[]): () => Promise<number | undefined> {
  return () => Promise.resolve(sizes.shift());
}

describe(Retention.name, () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();

  beforeEach(() => {
    jest.useFakeTimers({ now: NOW });
  });
  afterEach(() => {
    jest.useRealTimers();
    warn.mockClear();
  });

  it('deletes rows older than the limit in batches and returns their number', async () => {
    const letters = new Letters(30, batches(5, 0, 2));
    expect(await letters.sweepNow(NOW)).toBe(7);
    expect(letters.sweeps).toEqual([new Date('2026-03-01T12:00:00.000Z')]);
  });

  it('sweeps at the start and every hour until it is stopped', async () => {
    const letters = new Letters(1, batches());
    letters.onApplicationBootstrap();
    expect(letters.sweeps).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(2 * HOUR_MS);
    expect(letters.sweeps).toHaveLength(3);
    await letters.onApplicationShutdown();
    await jest.advanceTimersByTimeAsync(2 * HOUR_MS);
    expect(letters.sweeps).toHaveLength(3);
  });

  it('keeps everything for 0 days', async () => {
    const letters = new Letters(0, batches(1));
    letters.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(HOUR_MS);
    expect(await letters.sweepNow()).toBe(0);
    expect(letters.sweeps).toEqual([]);
    await letters.onApplicationShutdown();
  });

  it('starts no further batch once stopped', async () => {
    let rounds = 0;
    const letters: Letters = new Letters(1, () => {
      if (++rounds === 2) void letters.onApplicationShutdown();
      return Promise.resolve(1);
    });
    expect(await letters.sweepNow()).toBe(2);
  });

  it('logs the kind of a failure without values of rows and continues', async () => {
    const failure = Object.assign(new Error('invalid input: "my letter"'), { code: '22P02' });
    const letters = new Letters(1, () => Promise.reject(failure));
    letters.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(HOUR_MS);
    expect(warn.mock.calls).toEqual(Array(2).fill(['sweep of letters failed: Error 22P02']));
    await letters.onApplicationShutdown();
  });
});
