import { describe, expect, it } from '@jest/globals';
import { PriceListError } from './price-list.js';
import { readPriceList } from './read-price-list.js';

const TODAY = '2026-11-23';

function read(content: unknown) {
  return readPriceList(Buffer.from(JSON.stringify(content)), TODAY);
}

describe('LiteLLM price list', () => {
  const row = (fields: object) => ({ litellm_provider: 'acme', mode: 'chat', ...fields });
  const only = (fields: object) => read({ model: row(fields) }).find('acme', 'model');

  it('yields prices per token with long-prompt tiers, service tiers and combinations', () => {
    const list = read({
      sample_spec: { litellm_provider: 'one of …', input_cost_per_token: 0 },
      'acme/big': row({
        max_input_tokens: 1_050_000,
        max_output_tokens: '128000',
        input_cost_per_token: 2.5e-6,
        output_cost_per_token: 1.5e-5,
        cache_read_input_token_cost: 2.5e-7,
        cache_creation_input_token_cost: 3.125e-6,
        cache_creation_input_token_cost_above_1hr: 5e-6,
        output_cost_per_reasoning_token: null,
        input_cost_per_token_above_272k_tokens: 5e-6,
        input_cost_per_token_above_128k_tokens: 3e-6,
        input_cost_per_token_flex: 1.25e-6,
        input_cost_per_token_batches: 1.25e-6,
        output_cost_per_token_above_272k_tokens_priority: 4.5e-5,
        input_cost_per_token_priority_above_272k_tokens: 1e-5,
        input_cost_per_audio_token: 1,
      }),
    });
    expect(list.name).toBe('LiteLLM');
    expect(list.models).toEqual([
      {
        provider: 'acme',
        model: 'big',
        kind: 'chat',
        contextLength: 1_050_000,
        maxCompletionTokens: 128_000,
        prices: {
          pricing: {
            prompt: '0.0000025',
            completion: '0.000015',
            input_cache_read: '0.00000025',
            input_cache_write: '0.000003125',
            input_cache_write_1h: '0.000005',
          },
          long_prompts: [
            { above: 128_000, pricing: { prompt: '0.000003' } },
            { above: 272_000, pricing: { prompt: '0.000005' } },
          ],
          service_tiers: {
            flex: { pricing: { prompt: '0.00000125' } },
            batch: { pricing: { prompt: '0.00000125' } },
            priority: {
              pricing: {},
              long_prompts: [
                { above: 272_000, pricing: { completion: '0.000045', prompt: '0.00001' } },
              ],
            },
          },
        },
      },
    ]);
  });

  it('reads length ranges as long-prompt tiers', () => {
    const range = (from: number, to: number, prompt: number) => ({
      range: [from, to],
      input_cost_per_token: prompt,
    });
    const ranges = [range(0, 32_000, 1e-6), range(128_000, 256_000, 3e-6)];
    const tiered_pricing = [...ranges, range(32_000, 128_000, 1.8e-6), 'none', { range: 'all' }];
    expect(only({ tiered_pricing })?.prices).toEqual({
      pricing: { prompt: '0.000001' },
      long_prompts: [
        { above: 32_000, pricing: { prompt: '0.0000018' } },
        { above: 128_000, pricing: { prompt: '0.000003' } },
      ],
    });
  });

  it('converts prices per second to minutes', () => {
    const hearing = only({ mode: 'audio_transcription', input_cost_per_second: 0.0001 });
    expect(hearing).toMatchObject({
      kind: 'transcription',
      prices: { pricing: { audio_minute: '0.006' } },
    });
    const film = only({ mode: 'video_generation', output_cost_per_second: '0.50' });
    expect(film?.prices.pricing).toEqual({ video_second: '0.5' });
  });

  it.each([
    [(0.1 + 0.2) * 1e-6, '0.0000003'],
    ['2.5E-6', '0.0000025'],
    ['0.0000010', '0.000001'],
    [12, '12'],
    [0, '0'],
    [1e-18, '0.000000000000000001'],
    ['1e3', '1000'],
    [0.1 + 0.2, '0.3'],
  ])('reads %j as %s', (listed, price) => {
    expect(only({ input_cost_per_token: listed })).toMatchObject({
      prices: { pricing: { prompt: price } },
    });
  });

  it.each([
    [-1e-6, 'input_cost_per_token is negative (-0.000001)'],
    ['-1', 'input_cost_per_token is negative ("-1")'],
    ['cheap', 'input_cost_per_token is "cheap", which is not a price'],
    [true, 'input_cost_per_token is true, which is not a price'],
    [{}, 'input_cost_per_token is {}, which is not a price'],
    ['', 'input_cost_per_token is "", which is not a price'],
    [
      `0.${'0'.repeat(2_000_000)}1`,
      `input_cost_per_token is "0.${'0'.repeat(37)}, which is not a price`,
    ],
    [1e-19, expect.stringContaining('more than 18 decimal places')],
    [1e12, expect.stringContaining('9 digits before them')],
  ])('rejects %j with the reason', (listed, problem) => {
    const model = only({ input_cost_per_token: listed, output_cost_per_token: 1e-6 });
    expect(model).toMatchObject({ problem, prices: { pricing: {} } });
  });

  it('rejects a model listed twice with different prices or under a repeated key', () => {
    const cheap = row({ input_cost_per_token: 1e-6 });
    const list = read({
      same: cheap,
      'acme/same': cheap,
      other: cheap,
      'acme/other': row({ input_cost_per_token: 2e-6 }),
    });
    expect(list.find('acme', 'same')?.problem).toBeUndefined();
    expect(list.find('acme', 'other')?.problem).toBe('is listed twice, with different prices');
    const repeated = `{"m": ${JSON.stringify(cheap)}, "m": ${JSON.stringify(cheap)}}`;
    const model = readPriceList(Buffer.from(repeated), TODAY).find('acme', 'm');
    expect(model?.problem).toBe('is listed twice');
  });
});

describe('models.dev price list', () => {
  const listOf = (cost: unknown) =>
    read({ acme: { id: 'acme', models: { m: { cost, limit: { context: 400_000, output: 8 } } } } });

  it('yields prices per million tokens, with long-prompt tiers', () => {
    const cost = {
      input: 1.25,
      output: 10,
      cache_read: 0.125,
      cache_write: 0,
      reasoning: 10,
      input_audio: 3,
      context_over_200k: { input: 2.5, output: 15 },
    };
    expect(listOf(cost).models).toEqual([
      {
        provider: 'acme',
        model: 'm',
        contextLength: 400_000,
        maxCompletionTokens: 8,
        prices: {
          pricing: {
            prompt: '0.00000125',
            completion: '0.00001',
            input_cache_read: '0.000000125',
            input_cache_write: '0',
            internal_reasoning: '0.00001',
          },
          long_prompts: [
            { above: 200_000, pricing: { prompt: '0.0000025', completion: '0.000015' } },
          ],
        },
      },
    ]);
  });

  it('prefers tiers under their newer name', () => {
    const step = (size: number, input: number) => ({ tier: { type: 'context', size }, input });
    const tiers = [step(512_000, 4), step(256_000, 2)];
    const cost = { input: 1, output: 1, context_over_200k: { input: 9 }, tiers };
    expect(listOf(cost).find('acme', 'm')?.prices.long_prompts).toEqual([
      { above: 256_000, pricing: { prompt: '0.000002' } },
      { above: 512_000, pricing: { prompt: '0.000004' } },
    ]);
    expect(listOf({ input: 1, tiers: [{ input: 2 }] }).find('acme', 'm')?.problem).toContain(
      'cost.tiers has an entry',
    );
    expect(listOf({ input: -1 }).find('acme', 'm')?.problem).toBe('cost.input is negative (-1)');
  });
});

describe('genai-prices price list', () => {
  const listOf = (prices: unknown, match: unknown = { equals: 'm' }) =>
    read([{ id: 'acme', models: [{ id: 'm', match, context_window: 9, prices }] }]);
  const pricesOf = (prices: unknown) => listOf(prices).find('acme', 'm')?.prices;

  it('yields prices per million tokens and per thousand searches, with tiers of all units', () => {
    const prices = {
      input_mtok: { base: 2, tiers: [{ start: 200_000, price: 4 }] },
      output_mtok: { base: 6, tiers: [{ start: 500_000, price: 9 }] },
      cache_read_mtok: 0.2,
      web_searches_kcount: 14,
      requests_kcount: 5,
    };
    expect(pricesOf(prices)).toEqual({
      pricing: {
        prompt: '0.000002',
        completion: '0.000006',
        input_cache_read: '0.0000002',
        web_search: '0.014',
      },
      long_prompts: [
        { above: 200_000, pricing: { prompt: '0.000004' } },
        { above: 500_000, pricing: { prompt: '0.000004', completion: '0.000009' } },
      ],
    });
  });

  it('applies started prices and treats later ones as changes', () => {
    const from = (start_date: string, price: number) => ({
      constraint: { type: 'start_date', start_date },
      prices: { input_mtok: price },
    });
    const dated = [
      { prices: { input_mtok: 4 } },
      from('2026-12-01', 1),
      from('2026-11-23', 2),
      from('2026-10-01', 3),
    ];
    expect(pricesOf(dated)).toEqual({
      pricing: { prompt: '0.000002' },
      price_changes: [{ effective_from: '2026-12-01', pricing: { prompt: '0.000001' } }],
    });
    expect(listOf([from('soon', 1)]).find('acme', 'm')?.problem).toBe(
      'constraint.start_date is "soon", which is not a date',
    );
    expect(listOf([from('2026-12-01', 1)]).find('acme', 'm')?.problem).toBe(
      'prices has no entry for today',
    );
  });

  it('uses the highest of hourly prices', () => {
    const hours = [
      { prices: { input_mtok: 9, output_mtok: 9 } },
      { constraint: { start_time: '01:00:00Z' }, prices: { input_mtok: 8 } },
      { constraint: { start_date: '2026-08-17' }, prices: { input_mtok: 2, output_mtok: 4 } },
      { constraint: { start_time: '16:30:00Z' }, prices: { input_mtok: 1, output_mtok: 5 } },
    ];
    expect(pricesOf(hours)).toEqual({ pricing: { prompt: '0.000002', completion: '0.000005' } });
  });

  it("matches models by the list's name rules, except regular expressions", () => {
    const match = {
      or: [
        { and: [{ starts_with: 'a-' }, { ends_with: '-z' }] },
        { contains: 'mid' },
        { regex: '^x.*$' },
      ],
    };
    const list = listOf({ input_mtok: 1 }, match);
    const found = ['m', 'a-b-z', 'amidst', 'a-b', 'xyz'].map((name) => !!list.find('acme', name));
    expect(found).toEqual([true, true, true, false, false]);
    expect(list.find('other', 'm')).toBeUndefined();
  });

  it('accepts the format that has units besides vendors', () => {
    const providers = [{ id: 'acme', models: [{ id: 'm', prices: { input_mtok: 1 } }] }];
    expect(read({ providers, units: {} }).name).toBe('genai-prices');
  });
});

describe('unknown price lists', () => {
  it.each([
    ['<html>', 'it is not JSON'],
    ['', 'it is not JSON'],
    ['{"a": {"price": 1}}', 'not a known price list'],
    ['[]', 'not a known price list'],
    ['[1]', 'not a known price list'],
    ['null', 'not a known price list'],
    ['{}', 'not a known price list'],
    ['{"acme": {"models": {}}}', 'no model with a price'],
  ])('rejects %s', (text, message) => {
    const reading = () => readPriceList(Buffer.from(text), TODAY);
    expect(reading).toThrow(PriceListError);
    expect(reading).toThrow(message);
  });
});
