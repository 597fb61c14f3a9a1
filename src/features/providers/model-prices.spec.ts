import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { toCatalogue } from '../../core/catalogue/load-catalogue.js';
import { shownPricesOf } from './model-prices.js';

const ROW = {
  id: 'local/tiers',
  pricing: { prompt: '0.2', completion: '1' },
  long_prompts: [{ above: 9, pricing: { prompt: '0.4' } }],
  service_tiers: {
    flex: {
      pricing: { prompt: '0.1' },
      long_prompts: [{ above: 9, pricing: { completion: '2' } }],
    },
    batch: { pricing: { completion: '0.5' } },
  },
  regions: { us: { pricing: { prompt: '0.3' } } },
  price_changes: [
    { effective_from: '2026-11-01', pricing: { completion: '1.5' } },
    { effective_from: '2026-12-15', pricing: { image: '3' } },
    {
      effective_from: '2026-12-01',
      pricing: { prompt: '7' },
      service_tiers: { flex: { pricing: { prompt: '0.1' } } },
    },
  ],
  source: 'a list',
  as_of: '2026-11-20',
};

function shown(row: Record<string, unknown>) {
  const { models, problems } = toCatalogue(new Map([[String(row.id), row]]));
  expect(problems).toEqual([]);
  return shownPricesOf(models[0]!);
}

describe(shownPricesOf.name, () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: Date.parse('2026-11-24T12:00:00Z') });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it("shows today's complete prices and future changes", () => {
    const four = { prompt: '0.2', completion: '1.5', request: '0', image: '0' };
    expect(shown(ROW)).toEqual({
      pricing: four,
      long_prompts: [{ above: 9, pricing: { ...four, prompt: '0.4' } }],
      service_tiers: {
        flex: {
          pricing: { ...four, prompt: '0.1' },
          long_prompts: [{ above: 9, pricing: { ...four, prompt: '0.1', completion: '2' } }],
        },
        batch: { pricing: { ...four, completion: '0.5' } },
      },
      regions: { us: { pricing: { ...four, prompt: '0.3' } } },
      price_changes: [
        {
          effective_from: '2026-12-01',
          pricing: { ...four, prompt: '7' },
          service_tiers: { flex: { pricing: { ...four, prompt: '0.1' } } },
        },
        {
          effective_from: '2026-12-15',
          pricing: { ...four, prompt: '7', image: '3' },
          service_tiers: { flex: { pricing: { ...four, prompt: '0.1', image: '3' } } },
        },
      ].map((change) => expect.objectContaining(change)),
      source: 'a list',
      as_of: '2026-11-20',
    });
  });

  it('shows sizes', () => {
    const sizes = [{ size: '1024x1024', quality: 'high', pricing: { image: '0.2' } }];
    expect(
      shown({ id: 'local/pictures', kind: 'image', pricing: { image: '0.1' }, sizes }),
    ).toMatchObject({
      pricing: { prompt: '0', image: '0.1' },
      sizes: [{ size: '1024x1024', quality: 'high', pricing: { prompt: '0', image: '0.2' } }],
    });
  });

  it('shows only the four required prices by default', () => {
    expect(shown({ id: 'local/plain', pricing: { prompt: '1', completion: '2' } })).toEqual({
      pricing: { prompt: '1', completion: '2', request: '0', image: '0' },
    });
  });
});
