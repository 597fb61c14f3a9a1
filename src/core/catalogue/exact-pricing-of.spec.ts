import { describe, expect, it } from '@jest/globals';
import { MODEL_KINDS, type ModelKind, type Pricing } from './catalogue.types.js';
import { exactPricesOf, exactPricingOf, isCompletePricing, pricedAt } from './exact-pricing-of.js';

describe(exactPricingOf.name, () => {
  it('reads every price exactly', () => {
    expect(
      exactPricingOf({
        prompt: '0.00000015',
        completion: '0.0000006',
        request: '0.01',
        image: '0.04',
        input_cache_read: '0.000000075',
        input_cache_write: '0.0000001875',
        input_cache_write_1h: '0.0000003',
        internal_reasoning: '0.0000007',
        web_search: '0.01',
        audio_character: '0.000015',
        audio_byte: '0.00000715',
        audio_minute: '0.006',
        video_second: '0.1',
      }),
    ).toEqual({
      prompt: 150_000_000_000n,
      completion: 600_000_000_000n,
      request: 10n ** 16n,
      image: 4n * 10n ** 16n,
      cacheRead: 75_000_000_000n,
      cacheWrite: 187_500_000_000n,
      cacheWriteLong: 300_000_000_000n,
      reasoning: 700_000_000_000n,
      webSearch: 10n ** 16n,
      audioCharacter: 15n * 10n ** 12n,
      audioByte: 715n * 10n ** 10n,
      audioMinute: 6n * 10n ** 15n,
      videoSecond: 10n ** 17n,
    });
  });

  it('falls back to the ordinary price for a missing special one only', () => {
    expect(exactPricingOf({ prompt: '0.000001', completion: '0.000002' })).toEqual({
      prompt: 10n ** 12n,
      completion: 2n * 10n ** 12n,
      request: 0n,
      image: 0n,
      cacheRead: 10n ** 12n,
      cacheWrite: 10n ** 12n,
      cacheWriteLong: 10n ** 12n,
      reasoning: 2n * 10n ** 12n,
      webSearch: 0n,
      audioCharacter: 0n,
      audioByte: 0n,
      audioMinute: 0n,
      videoSecond: 0n,
    });
  });

  it('accepts a special price of zero', () => {
    expect(exactPricingOf({ prompt: '1', completion: '1', input_cache_read: '0' }).cacheRead).toBe(
      0n,
    );
  });
});

describe(isCompletePricing.name, () => {
  it.each<[ModelKind, Partial<Pricing>, boolean]>([
    ['chat', { prompt: '0', completion: '0' }, true],
    ['chat', { prompt: '1' }, false],
    ['chat', { completion: '1' }, false],
    ['embedding', { prompt: '1' }, true],
    ['embedding', { completion: '1' }, false],
    ['speech', { audio_character: '1' }, true],
    ['speech', { audio_byte: '1' }, true],
    ['speech', { prompt: '1', completion: '1' }, true],
    ['speech', { prompt: '1' }, false],
    ['transcription', { audio_minute: '1' }, true],
    ['transcription', { audio_character: '1' }, false],
    ['image', { image: '1' }, true],
    ['image', { request: '1' }, false],
    ['video', { video_second: '1' }, true],
    ['video', { image: '1' }, false],
  ])('of a %s model with %j: %s', (kind, pricing, expected) => {
    expect(isCompletePricing(kind, pricing)).toBe(expected);
  });

  it.each(MODEL_KINDS)('requires a price for every %s model', (kind) => {
    expect(isCompletePricing(kind, {})).toBe(false);
  });
});

describe(exactPricesOf.name, () => {
  const model = {
    pricing: { prompt: '0.000002', completion: '0.00001', request: '0', image: '0' },
    long_prompts: [
      { above: 500_000, pricing: { prompt: '0.000003' } },
      { above: 200_000, pricing: { prompt: '0.000004', completion: '0.000005' } },
    ],
  };

  it('sorts prices by prompt length, none below those of shorter prompts', () => {
    const { longPrompts } = exactPricesOf(model, {});
    const micro = 10n ** 12n;
    expect(longPrompts).toMatchObject([
      { above: 200_000, pricing: { prompt: 4n * micro, completion: 10n * micro } },
      { above: 500_000, pricing: { prompt: 4n * micro, completion: 10n * micro } },
    ]);
  });

  it('uses a route’s tiers in place of the model’s', () => {
    const route = {
      pricing: { completion: '0.00002' },
      long_prompts: [{ above: 9, pricing: { prompt: '0.00001' } }],
    };
    const { longPrompts } = exactPricesOf(model, route);
    const micro = 10n ** 12n;
    expect(longPrompts).toHaveLength(1);
    expect(longPrompts).toMatchObject([
      {
        above: 9,
        pricing: { prompt: 10n * micro, completion: 20n * micro, cacheRead: 10n * micro },
      },
    ]);
  });

  it('has none by default', () => {
    expect(exactPricesOf({ pricing: model.pricing }, {}).longPrompts).toBeUndefined();
  });

  it('are no lower than an account’s own prices', () => {
    const own = exactPricingOf({ ...model.pricing, prompt: '0.000009' });
    const { pricing, longPrompts } = pricedAt(exactPricesOf(model, {}), own);
    expect(pricing).toBe(own);
    expect(longPrompts!.map((longer) => longer.pricing.prompt)).toEqual([own.prompt, own.prompt]);
    expect(pricedAt(exactPricesOf({ pricing: model.pricing }, {}), own)).toEqual({ pricing: own });
  });
});
