import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { TokenCounter } from './token-counter.js';

/** The time limit of a count. */
const TIMEOUT_MS = 3_000;

describe(TokenCounter.name, () => {
  let counter: TokenCounter;
  beforeAll(() => {
    // On a busy machine the time limit may expire before a thread has loaded its vocabulary.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    counter = new TokenCounter();
  });
  afterAll(async () => {
    await counter.onApplicationShutdown();
    jest.useRealTimers();
  });

  it('counts all texts together and ignores empty ones', async () => {
    expect(await counter.count('tenant', [])).toBe(0);
    expect(await counter.count('tenant', ['hello world', '', ' again'])).toBe(3);
    expect(await counter.count('tenant', ['<|endoftext|>'])).toBeGreaterThan(1);
  });

  it('counts a long text as a short one', async () => {
    // Two tokens per repetition; pieces end anywhere.
    expect(await counter.count('tenant', ['hello world '.repeat(10_000).trimEnd()])).toBe(20_000);
  });

  it.each([
    ['letters', 'a', 8],
    ['single-token ideographs', '的', 1],
    ['exclamation marks', '!', 16],
    ['spaces', ' ', 100],
    ['surrogate pairs', '😀', 1],
  ])('counts 200,000 unbroken %s, and other texts meanwhile', async (_, unit, perToken) => {
    const long = counter.count('tenant', [unit.repeat(200_000)]);
    const short = counter.count('tenant', ['hello world']);
    const tokens = await long;
    expect(tokens).toBeGreaterThan((200_000 / perToken) * 0.9);
    expect(tokens).toBeLessThan((200_000 / perToken) * 1.2);
    expect(await short).toBe(2);
  });

  it('alternates between tenants, and only late counts fail', async () => {
    let counted = 0;
    const greedy = Array.from({ length: 400 }, async (_, index) => {
      const tokens = await counter.count('greedy', [`${index} `.repeat(2_000)]);
      if (tokens !== undefined) counted++;
      return tokens;
    });
    expect(await counter.count('modest', ['hello world'])).toBe(2);
    // The count in progress, and one turn of the other tenant.
    expect(counted).toBeLessThan(4);
    jest.advanceTimersByTime(TIMEOUT_MS);
    const counts = await Promise.all(greedy);
    expect(counts.filter((tokens) => tokens !== undefined).length).toBeLessThan(4);
    expect(await counter.count('modest', ['hello world'])).toBe(2);
  });

  it('queues five hundred texts of a tenant, and drops them at shutdown', async () => {
    const many = Array.from({ length: 600 }, () => counter.count('tenant', ['hello']));
    expect(await many[599]).toBeUndefined();
    await counter.onApplicationShutdown();
    // Nothing is counted before the event loop turns.
    expect(new Set(await Promise.all(many))).toEqual(new Set([undefined]));
  });
});
