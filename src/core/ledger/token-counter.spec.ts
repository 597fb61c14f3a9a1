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
    expect(await counter.count([])).toBe(0);
    expect(await counter.count(['hello world', '', ' again'])).toBe(3);
    expect(await counter.count(['<|endoftext|>'])).toBeGreaterThan(1);
  });

  it('counts a long text as one piece would be counted', async () => {
    // Two tokens a time, whose pieces end anywhere.
    expect(await counter.count(['hello world '.repeat(10_000).trimEnd()])).toBe(20_000);
  });

  it.each([
    ['letters', 'a', 8],
    ['ideographs of one token', '的', 1],
    ['marks', '!', 16],
    ['spaces', ' ', 100],
    ['pairs of surrogates', '😀', 1],
  ])('counts 200,000 %s without a break, and others beside them', async (_, unit, perToken) => {
    const long = counter.count([unit.repeat(200_000)]);
    const short = counter.count(['hello world']);
    const tokens = await long;
    expect(tokens).toBeGreaterThan((200_000 / perToken) * 0.9);
    expect(tokens).toBeLessThan((200_000 / perToken) * 1.2);
    expect(await short).toBe(2);
  });
});
