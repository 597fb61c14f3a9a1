import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TokenCounter } from './token-counter.js';

describe(TokenCounter.name, () => {
  let counter: TokenCounter;
  beforeEach(() => {
    counter = new TokenCounter();
  });
  afterEach(async () => {
    await counter.onApplicationShutdown();
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
    await counter.count('tenant', ['warm']);
    let seed = 1;
    const ideographs = Array.from({ length: 6_000 }, () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return String.fromCodePoint(0x4e00 + ((seed >>> 8) % 20_000));
    }).join('');
    // Each takes a thirtieth of a second, as none has pieces of another, which are remembered.
    const greedy = Array.from({ length: 400 }, (_, index) =>
      counter.count('greedy', [ideographs.slice(index * 7)]),
    );
    const startedMs = performance.now();
    expect(await counter.count('modest', ['hello world'])).toBe(2);
    expect(performance.now() - startedMs).toBeLessThan(3_000);
    const counts = await Promise.all(greedy);
    expect(counts.filter((tokens) => tokens !== undefined).length).toBeLessThan(400);
    expect(await counter.count('modest', ['hello world'])).toBe(2);
  });

  it('takes five hundred of a tenant at once, and ends what waits when it is stopped', async () => {
    const many = Array.from({ length: 600 }, () => counter.count('tenant', ['hello']));
    expect(await many[599]).toBeUndefined();
    await counter.onApplicationShutdown();
    expect(new Set(await Promise.all(many))).toEqual(new Set([undefined]));
  });
});
