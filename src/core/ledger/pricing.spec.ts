import { describe, expect, it } from '@jest/globals';
import { parsePrice, type ExactPricing } from '../../canonical/exact-pricing.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import { outputWithin, priceRoute, priceUsage, totalOf } from './pricing.js';

/** Prices in USD as a catalogue states them; omitted ones are 0. */
function pricing(prices: Partial<Record<keyof ExactPricing, string>>): ExactPricing {
  const exact = (key: keyof ExactPricing) => parsePrice(prices[key] ?? '0')!;
  return {
    prompt: exact('prompt'),
    completion: exact('completion'),
    request: exact('request'),
    image: exact('image'),
    cacheRead: exact('cacheRead'),
    cacheWrite: exact('cacheWrite'),
    cacheWriteLong: exact('cacheWriteLong'),
    reasoning: exact('reasoning'),
    webSearch: exact('webSearch'),
    audioCharacter: exact('audioCharacter'),
    audioByte: exact('audioByte'),
    audioMinute: exact('audioMinute'),
    videoSecond: exact('videoSecond'),
  };
}

const usage = (overrides: Partial<Usage>): Usage => ({ ...NO_USAGE, ...overrides });

const MINI = pricing({ prompt: '0.00000015', completion: '0.0000006', reasoning: '0.0000006' });
const SPOKEN = pricing({ audioCharacter: '0.000015' });
const BYTES = pricing({ audioByte: '0.00000715' });
const MINUTES = pricing({ audioMinute: '0.006' });
const CACHED = pricing({
  prompt: '0.000003',
  completion: '0.000015',
  cacheRead: '0.0000003',
  cacheWrite: '0.00000375',
  reasoning: '0.00002',
});

describe('long-prompt pricing', () => {
  const usual = pricing({ prompt: '0.000002', completion: '0.00001', reasoning: '0.00001' });
  const long = pricing({ prompt: '0.000004', completion: '0.000015', reasoning: '0.000015' });
  const longest = pricing({ prompt: '0.000008', completion: '0.00002', reasoning: '0.00002' });
  const route = {
    pricing: usual,
    longPrompts: [
      { above: 200_000, pricing: long },
      { above: 500_000, pricing: longest },
    ],
    trafficMode: 'shared' as const,
  };

  it.each([
    [200_000, 2, 10],
    [200_001, 4, 15],
    [300_000, 4, 15],
    [500_001, 8, 20],
  ])('prices a whole request of %d tokens by its length', (inputTokens, prompt, answer) => {
    // Cached tokens count toward the length.
    const used = usage({ inputTokens, outputTokens: 10, reasoningTokens: 4 });
    expect(totalOf(priceRoute(used, route))).toBe(inputTokens * prompt + 10 * answer);
    const credits = inputTokens * prompt + 100 * answer;
    expect(outputWithin(credits, usage({ inputTokens }), route)).toBe(100);
    expect(outputWithin(credits - 1, usage({ inputTokens }), route)).toBe(99);
  });

  it('applies to the BYOK fee as well', () => {
    const own = { ...route, trafficMode: 'byok' as const, byokFeePercent: 5 };
    expect(totalOf(priceRoute(usage({ inputTokens: 300_000 }), own))).toBe(60_000);
  });
});

describe(priceUsage.name, () => {
  it.each<[string, Usage, ExactPricing, number]>([
    ['no usage', NO_USAGE, MINI, 0],
    ['one token of 0.15 credits', usage({ inputTokens: 1 }), MINI, 1],
    ['a whole sum', usage({ inputTokens: 1_000, outputTokens: 500 }), MINI, 450],
    // 3 × 0.15 + 1 × 0.6 = 1.05, rounded once. Rounding each part would give 1 + 1, or 3 + 1.
    ['a sum just above a whole', usage({ inputTokens: 3, outputTokens: 1 }), MINI, 2],
    // 0.15 + 0.6 = 0.75: one credit, where rounding each part would give two.
    ['parts below one credit', usage({ inputTokens: 1, outputTokens: 1 }), MINI, 1],
    // In floating point 0.1 + 0.2 exceeds 0.3, and would be rounded up to 4 here.
    [
      'decimals without an exact binary fraction',
      usage({ inputTokens: 10, outputTokens: 10 }),
      pricing({ prompt: '0.0000001', completion: '0.0000002' }),
      3,
    ],
    ['a character of speech', usage({ inputCharacters: 1, inputBytes: 3 }), SPOKEN, 15],
    ['characters, not bytes', usage({ inputCharacters: 7, inputBytes: 21 }), SPOKEN, 105],
    // 3 × 7.15 = 21.45
    ['bytes, not characters', usage({ inputCharacters: 1, inputBytes: 3 }), BYTES, 22],
    ['images', usage({ imageCount: 3 }), pricing({ image: '0.211' }), 633_000],
    ['seconds of video', usage({ videoSeconds: 8 }), pricing({ videoSecond: '0.1' }), 800_000],
    ['a minute of audio', usage({ audioMs: 60_000 }), MINUTES, 6_000],
    ['ten milliseconds, a whole credit', usage({ audioMs: 10 }), MINUTES, 1],
    ['one millisecond more', usage({ audioMs: 11 }), MINUTES, 2],
    // A third of a minute at 0.000001 is a third of a credit: one, with two thirds for tokens.
    [
      'a repeating fraction, rounded with the rest',
      usage({ audioMs: 20_000, inputTokens: 2 }),
      pricing({ audioMinute: '0.000003', prompt: '0.000001' }),
      3,
    ],
    [
      'a millisecond at the lowest price',
      usage({ audioMs: 1 }),
      pricing({ audioMinute: '0.000000000000000001' }),
      1,
    ],
    [
      'the lowest price a million times',
      usage({ inputTokens: 1_000_000 }),
      pricing({ prompt: '0.000000000000000001' }),
      1,
    ],
    [
      'exactly one credit at the lowest price',
      usage({ inputTokens: 10 ** 12 }),
      pricing({ prompt: '0.000000000000000001' }),
      1,
    ],
    [
      'one token more',
      usage({ inputTokens: 10 ** 12 + 1 }),
      pricing({ prompt: '0.000000000000000001' }),
      2,
    ],
    ['the price per request', NO_USAGE, pricing({ request: '0.005' }), 5_000],
    [
      'cached tokens at their own prices and the rest at the standard one',
      // 500 × 3 + 400 × 0.3 + 100 × 3.75 = 1,995
      usage({ inputTokens: 1_000, cacheReadTokens: 400, cacheWriteTokens: 100 }),
      CACHED,
      1_995,
    ],
    [
      'reasoning tokens at their own price and the rest at the standard one',
      // 60 × 15 + 40 × 20 = 1,700
      usage({ outputTokens: 100, reasoningTokens: 40 }),
      CACHED,
      1_700,
    ],
    [
      'only cached and reasoning tokens',
      usage({ inputTokens: 10, cacheReadTokens: 10, outputTokens: 2, reasoningTokens: 2 }),
      CACHED,
      43,
    ],
    [
      'a large usage at a high price exactly',
      usage({ inputTokens: 2 ** 31 - 1, outputTokens: 2 ** 31 - 1 }),
      pricing({ prompt: '0.000015', completion: '0.000075' }),
      (2 ** 31 - 1) * 90,
    ],
    [
      'a large sum with a fraction that floating point loses',
      // 9,007,199,254,740 + 10^-12 credits
      usage({ inputTokens: 9_007_199_254_740, outputTokens: 1 }),
      pricing({ prompt: '0.000001', completion: '0.000000000000000001' }),
      9_007_199_254_741,
    ],
  ])('charges %s', (_, used, prices, credits) => {
    const charge = priceUsage(used, prices);
    expect(totalOf(charge)).toBe(credits);
    expect(charge).toEqual({ modelCharge: credits, byokPlatformFee: 0, managedToolFee: 0 });
  });

  it('reports web searches separately', () => {
    const charge = priceUsage(
      usage({ inputTokens: 100, webSearches: 3 }),
      pricing({ prompt: '0.000003', webSearch: '0.01' }),
    );
    expect(charge).toEqual({ modelCharge: 300, byokPlatformFee: 0, managedToolFee: 30_000 });
  });

  it('rounds once, so that the parts add up to the whole', () => {
    // 0.3 + 0.4 credits: one, for the model.
    const prices = pricing({ prompt: '0.0000003', webSearch: '0.0000004' });
    expect(priceUsage(usage({ inputTokens: 1, webSearches: 1 }), prices)).toEqual({
      modelCharge: 1,
      byokPlatformFee: 0,
      managedToolFee: 0,
    });
    // 0.9 + 0.4 credits: two, one for each.
    expect(priceUsage(usage({ inputTokens: 3, webSearches: 1 }), prices)).toEqual({
      modelCharge: 1,
      byokPlatformFee: 0,
      managedToolFee: 1,
    });
  });
});

describe(priceRoute.name, () => {
  const prices = pricing({ prompt: '0.000001', completion: '0.000002', webSearch: '0.01' });
  const used = { ...NO_USAGE, inputTokens: 101, outputTokens: 0 };
  const byok = (byokFeePercent: number) =>
    ({ pricing: prices, trafficMode: 'byok', byokFeePercent }) as const;

  it('charges the price on shared capacity', () => {
    expect(priceRoute(used, { pricing: prices, trafficMode: 'shared' })).toEqual(
      priceUsage(used, prices),
    );
  });

  it.each([
    [101, 5, 6],
    [100, 5, 5],
    [1, 5, 1],
    [0, 5, 0],
    [101, 0, 0],
    [101, 100, 101],
    [9_007_199_254_740_000, 5, 450_359_962_737_000],
  ])(
    'for a cost of %i credits charges a BYOK fee of %i %%, rounded up: %i',
    (tokens, percent, fee) => {
      expect(priceRoute({ ...NO_USAGE, inputTokens: tokens }, byok(percent))).toEqual({
        modelCharge: 0,
        byokPlatformFee: fee,
        managedToolFee: 0,
      });
    },
  );

  it('includes vendor-run tools in the BYOK fee', () => {
    expect(priceRoute({ ...used, webSearches: 1 }, byok(5))).toEqual({
      modelCharge: 0,
      byokPlatformFee: 506,
      managedToolFee: 0,
    });
  });
});

describe(outputWithin.name, () => {
  const shared = (price: ExactPricing) => ({ pricing: price, trafficMode: 'shared' as const });
  const own = (price: ExactPricing, byokFeePercent: number) => ({
    pricing: price,
    trafficMode: 'byok' as const,
    byokFeePercent,
  });
  const prompt = usage({ inputTokens: 1_000, webSearches: 1 });
  const SEARCHING = pricing({ prompt: '0.000003', completion: '0.000015', webSearch: '0.01' });

  it.each([
    ['shared', shared(MINI)],
    ['shared, with searches', shared(SEARCHING)],
    ['shared, with more expensive reasoning', shared(CACHED)],
    ['BYOK', own(SEARCHING, 5)],
    ['BYOK with a fee that does not divide evenly', own(MINI, 7)],
  ])('returns the most that the credits pay for: %s', (_, billedBy) => {
    for (const credits of [0, 1, 150, 13_001, 99_999, 10_000_000]) {
      const tokens = outputWithin(credits, prompt, billedBy);
      const isReasoningHigher = billedBy.pricing.reasoning > billedBy.pricing.completion;
      const costOf = (outputTokens: number) =>
        totalOf(
          priceRoute(
            { ...prompt, outputTokens, reasoningTokens: isReasoningHigher ? outputTokens : 0 },
            billedBy,
          ),
        );
      if (tokens < 0) expect(costOf(0)).toBeGreaterThan(credits);
      else expect(costOf(tokens)).toBeLessThanOrEqual(credits);
      expect(costOf(tokens + 1)).toBeGreaterThan(credits);
    }
  });

  it('is unlimited when output is free', () => {
    const free = pricing({ prompt: '0.000001' });
    expect(outputWithin(1_000, prompt, shared(free))).toBe(Infinity);
    expect(outputWithin(999, prompt, shared(free))).toBe(-1);
    expect(outputWithin(0, prompt, own(MINI, 0))).toBe(Infinity);
  });
});
