import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../platform/http/json-body.js';
import { mergeRows } from '../../core/catalogue/load-catalogue.js';
import { comparePrices, type CompareOptions } from './compare-prices.js';
import { PriceList, type ListedModel, type WholePricing } from './price-list.js';

const ORIGIN = { source: 'a list', today: '2026-11-23' };
const BEFORE = { source: 'before', as_of: '2026-09-01' };

/** Compares one row with one listed model, both of xAI, which lists name differently. */
function compare(
  row: JsonObject,
  prices: WholePricing,
  options: Partial<CompareOptions> & { listed?: Partial<ListedModel> } = {},
) {
  const { listed, ...others } = options;
  const rows = rowsOf({ id: 'xai/m', ...BEFORE, ...row });
  const list = new PriceList('list', [{ provider: 'x-ai', model: 'm', prices, ...listed }]);
  const comparison = comparePrices(rows, list, { ...ORIGIN, ...others });
  const after = mergeRows(rows, comparison.rows).get('xai/m');
  return { ...comparison, after };
}

function rowsOf(...rows: JsonObject[]) {
  return new Map(rows.map((row) => [String(row.id), row]));
}

const PRICING = { prompt: '0.000002', completion: '0.000006', input_cache_read: '0.0000005' };

describe(comparePrices.name, () => {
  it('confirms an unchanged row without writing prices', () => {
    const seen = compare({ pricing: PRICING }, { pricing: { ...PRICING, prompt: '0.00000200' } });
    expect(seen).toMatchObject({ moves: [], confirmed: ['xai/m'], unlisted: [], problems: [] });
    expect(seen.rows).toEqual([{ id: 'xai/m', source: 'a list', as_of: '2026-11-23' }]);
    const again = compare(
      { pricing: PRICING, source: 'a list', as_of: '2026-11-23' },
      seen.after as never,
    );
    expect(again.rows).toEqual([]);
  });

  it('changes prices, comparing with the effective charge when a unit has no price', () => {
    const seen = compare(
      { pricing: PRICING },
      { pricing: { prompt: '0.000001', completion: '0.000006', input_cache_write: '0.0000025' } },
    );
    expect(seen.moves).toEqual([
      {
        id: 'xai/m',
        provider: 'xai',
        unit: 'prompt',
        before: '0.000002',
        instead: '0.000002',
        after: '0.000001',
      },
      expect.objectContaining({
        unit: 'input_cache_write',
        before: undefined,
        instead: '0.000001',
      }),
    ]);
    expect(seen.after).toEqual({
      id: 'xai/m',
      source: 'a list',
      as_of: '2026-11-23',
      pricing: { ...PRICING, prompt: '0.000001', input_cache_write: '0.0000025' },
    });
  });

  it.each([
    ['0.000006', undefined],
    ['0.000006000000000001', 'it changes more than threefold'],
    ['0.000000666666666667', undefined],
    ['0.000000666666666666', 'it changes more than threefold'],
    ['0', 'it would be free'],
  ])('a change from 0.000002 to %s: %s', (prompt, heldBack) => {
    const seen = compare({ pricing: PRICING }, { pricing: { prompt } });
    expect(seen.moves[0]?.heldBack).toBe(heldBack);
    expect(seen.rows).toHaveLength(heldBack === undefined ? 1 : 0);
    for (const word of ['all', 'xai/m', 'xai/m:prompt']) {
      const accepted = compare({ pricing: PRICING }, { pricing: { prompt } }, { accept: [word] });
      expect(accepted.moves[0]?.heldBack).toBeUndefined();
      expect(accepted.after).toMatchObject({ pricing: { prompt }, as_of: '2026-11-23' });
    }
    for (const word of ['xai', 'xai/m:completion', 'xai/n']) {
      const other = compare({ pricing: PRICING }, { pricing: { prompt } }, { accept: [word] });
      expect(other.moves[0]?.heldBack).toBe(heldBack);
    }
  });

  it('does not confirm a row with held-back changes and keeps its source', () => {
    const seen = compare(
      { pricing: PRICING },
      { pricing: { prompt: '0.00002', completion: '0.000007' } },
    );
    expect(seen.confirmed).toEqual([]);
    expect(seen.after).toMatchObject({
      ...BEFORE,
      pricing: { prompt: '0.000002', completion: '0.000007' },
    });
  });

  it('adds long-prompt tiers and extends a context that ended at the first tier', () => {
    const step = { above: 199_999, pricing: { prompt: '0.000004', completion: '0.000012' } };
    const row = { pricing: PRICING, context_length: 200_000 };
    const prices = { pricing: PRICING, long_prompts: [step] };
    const seen = compare(row, prices, { listed: { contextLength: 500_000 } });
    expect(seen.moves.map(({ unit }) => unit)).toEqual([
      'long_prompts.199999.prompt',
      'long_prompts.199999.completion',
      'context_length',
    ]);
    expect(seen.after).toMatchObject({ long_prompts: [step], context_length: 500_000 });
    // Inclusive and exclusive bounds are the same tier.
    const known = { ...row, long_prompts: [{ ...step, above: 200_000 }], context_length: 500_000 };
    expect(compare(known, prices).moves).toEqual([]);
    const ended = compare(row, prices, { listed: { contextLength: 199_999 } });
    expect(ended.moves).toHaveLength(2);
    expect(
      compare({ ...row, context_length: 199_999 }, prices, { listed: { contextLength: 199_999 } })
        .moves,
    ).toEqual([]);
  });

  it('adds service tiers and future changes, and keeps unlisted ones', () => {
    const flex = { pricing: { prompt: '0.000001' } };
    const row = {
      pricing: PRICING,
      service_tiers: { priority: { pricing: { prompt: '0.000004' } } },
      regions: { us: { pricing: { prompt: '0.0000022' } } },
      price_changes: [{ effective_from: '2026-11-01', pricing: { completion: '0.000007' } }],
    };
    const change = { effective_from: '2026-12-01', pricing: { prompt: '0.000003' } };
    const seen = compare(row, {
      pricing: PRICING,
      service_tiers: { flex },
      price_changes: [change],
    });
    expect(seen.moves.map(({ unit, instead, after }) => [unit, instead, after])).toEqual([
      ['completion', '0.000007', '0.000006'],
      ['service_tiers.flex.prompt', '0.000002', '0.000001'],
      ['price_changes.2026-12-01.prompt', '0.000002', '0.000003'],
    ]);
    expect(seen.after).toMatchObject({
      pricing: PRICING,
      service_tiers: { ...row.service_tiers, flex },
      regions: row.regions,
      price_changes: [change],
    });
  });

  it('gives a fallback route its own prices when the list has different ones', () => {
    const routes = [
      { provider: 'xai', model: 'm', priority: 0 },
      { provider: 'groq', model: 'm-groq', priority: 1 },
      { provider: 'mistral', model: 'unknown', priority: 2 },
    ];
    const rows = rowsOf({ id: 'xai/m', pricing: PRICING, routes });
    const list = new PriceList('list', [
      { provider: 'xai', model: 'm', prices: { pricing: { prompt: '0.000001' } } },
      { provider: 'groq', model: 'm-groq', prices: { pricing: { prompt: '0.0000015' } } },
    ]);
    const seen = comparePrices(rows, list, ORIGIN);
    expect(seen.moves.map(({ provider, after }) => [provider, after])).toEqual([
      ['xai', '0.000001'],
      ['groq', '0.0000015'],
    ]);
    expect(seen.rows[0]).toMatchObject({
      pricing: { prompt: '0.000001' },
      routes: [routes[0], { ...routes[1], pricing: { prompt: '0.0000015' } }, routes[2]],
    });
  });

  it('reports unlisted rows and unusable prices, and skips stand-ins', () => {
    const rows = rowsOf(
      { id: 'xai/unknown', pricing: PRICING },
      { id: 'xai/bad', pricing: PRICING },
      { id: 'sandbox/echo', pricing: PRICING },
      { id: 'xai/image', kind: 'image', pricing: { image: '1' } },
    );
    const list = new PriceList('list', [
      { provider: 'xai', model: 'bad', prices: { pricing: {} }, problem: 'is listed twice' },
      { provider: 'xai', model: 'image', prices: { pricing: { image: '2' } } },
    ]);
    expect(comparePrices(rows, list, ORIGIN)).toMatchObject({
      moves: [],
      unlisted: ['xai/unknown'],
      problems: ['xai/bad: xai/bad is listed twice'],
      confirmed: ['xai/image'],
    });
  });

  it('adds requested rows, free ones only when accepted', () => {
    const rows = rowsOf({ id: 'xai/m', pricing: PRICING });
    const priced = { pricing: PRICING, long_prompts: [{ above: 9, pricing: { prompt: '1' } }] };
    const free = { pricing: { prompt: '0', completion: '0' } };
    const list = new PriceList('list', [
      { provider: 'x-ai', model: 'new-a', prices: priced, contextLength: 500 },
      { provider: 'x-ai', model: 'new-free', prices: free },
      { provider: 'x-ai', model: 'new-embed', prices: { pricing: { prompt: '1' } } },
      { provider: 'x-ai', model: 'half', prices: { pricing: { prompt: '1' } } },
      { provider: 'x-ai', model: 'film', kind: 'video', prices: priced },
      { provider: 'nobody', model: 'new-b', prices: priced },
    ]);
    const of = (options: Partial<CompareOptions>) =>
      comparePrices(rows, list, { ...ORIGIN, ...options });
    expect(of({})).toMatchObject({
      rows: [],
      others: ['xai/new-a', 'xai/new-free', 'xai/new-embed'],
    });
    const seen = of({ add: ['xai/n*w-*'] });
    expect(seen.freeOnes).toEqual(['xai/new-free']);
    expect(seen.rows).toEqual([
      { id: 'xai/new-a', context_length: 500, ...priced, source: 'a list', as_of: '2026-11-23' },
      expect.objectContaining({ id: 'xai/new-embed', kind: 'embedding' }),
    ]);
    expect(of({ add: ['*free'], accept: ['xai/new-free'] }).rows).toHaveLength(1);
    expect(of({ add: ['xai/new', 'new-a', '*x'] }).rows).toEqual([]);
  });
});
