import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { TokenCounter } from './token-counter.js';

/** After which a count is given up. */
const PATIENCE_MS = 3_000;

describe(TokenCounter.name, () => {
  let counter: TokenCounter;
  beforeAll(() => {
    // On a busy machine the patience is over before a thread has its vocabulary.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    counter = new TokenCounter();
  });
  afterAll(async () => {
    await counter.onApplicationShutdown();
    jest.useRealTimers();
  });

  it('counts all texts together, without those that are none', async () => {
    expect(await counter.count('tenant', [])).toBe(0);
    expect(await counter.count('tenant', ['hello world', '', ' again'])).toBe(3);
    expect(await counter.count('tenant', ['<|endoftext|>'])).toBeGreaterThan(1);
  });

  it('counts a long text as one piece would be counted', async () => {
    // Two tokens a time, whose pieces end anywhere.
    expect(await counter.count('tenant', ['hello world '.repeat(10_000).trimEnd()])).toBe(20_000);
  });

  it.each([
    ['letters', 'a', 8],
    ['ideographs of one token', '的', 1],
    ['marks', '!', 16],
    ['spaces', ' ', 100],
    ['pairs of surrogates', '😀', 1],
  ])('counts 200,000 %s without a break, and others beside them', async (_, unit, perToken) => {
    const long = counter.count('tenant', [unit.repeat(200_000)]);
    const short = counter.count('tenant', ['hello world']);
    const tokens = await long;
    expect(tokens).toBeGreaterThan((200_000 / perToken) * 0.9);
    expect(tokens).toBeLessThan((200_000 / perToken) * 1.2);
    expect(await short).toBe(2);
  });

  it('has tenants take turns, and fails what is late alone', async () => {
    let counted = 0;
    const greedy = Array.from({ length: 400 }, async (_, index) => {
      const tokens = await counter.count('greedy', [`${index} `.repeat(2_000)]);
      if (tokens !== undefined) counted++;
      return tokens;
    });
    expect(await counter.count('modest', ['hello world'])).toBe(2);
    // What was at work before, and one turn of theirs.
    expect(counted).toBeLessThan(4);
    jest.advanceTimersByTime(PATIENCE_MS);
    const counts = await Promise.all(greedy);
    expect(counts.filter((tokens) => tokens !== undefined).length).toBeLessThan(4);
    expect(await counter.count('modest', ['hello world'])).toBe(2);
  });

  it('takes five hundred of a tenant at once, and ends what waits when it is stopped', async () => {
    const many = Array.from({ length: 600 }, () => counter.count('tenant', ['hello']));
    expect(await many[599]).toBeUndefined();
    await counter.onApplicationShutdown();
    // None is counted before the loop turns.
    expect(new Set(await Promise.all(many))).toEqual(new Set([undefined]));
  });
});
