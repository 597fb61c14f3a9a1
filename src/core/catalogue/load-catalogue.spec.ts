import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { presetCatalogues } from '../../vendors/vendors.js';
import { catalogueModelSchema } from './catalogue.schema.js';
import { loadCatalogue, mergeRow } from './load-catalogue.js';

describe(loadCatalogue.name, () => {
  it('has a valid schema without repetition, since it is compiled at every start', () => {
    const ajv = new Ajv();
    void ajv.validateSchema(catalogueModelSchema);
    expect(ajv.errors ?? []).toEqual([]);
    // It used to have 36,000.
    expect(JSON.stringify(catalogueModelSchema).length).toBeLessThan(12_000);
  });

  describe('with the built-in data', () => {
    const { models, problems } = loadCatalogue();

    it('loads every row', () => {
      expect(problems).toEqual([]);
      expect(models.length).toBeGreaterThan(100);
    });

    it('defines each model in one file only', () => {
      const folder = new URL('./data/', import.meta.url);
      const files = readdirSync(folder).map((file) => new URL(file, folder));
      const ids = [...files, ...presetCatalogues()].flatMap((file) => {
        const text = readFileSync(file, 'utf8');
        return (JSON.parse(text) as { models: { id: string }[] }).models.map(({ id }) => id);
      });
      expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
      expect(ids).toHaveLength(models.length);
    });

    it('lists each model’s primary route first', () => {
      for (const { id, routes } of models) {
        expect(`${routes[0]?.provider}/`).toBe(id.slice(0, id.indexOf('/') + 1));
        expect(routes.map(({ priority }) => priority)).toEqual(
          routes.map(({ priority }) => priority).sort((one, other) => one - other),
        );
      }
    });

    it('repeats a family’s wildcard in each route', () => {
      for (const { id, routes } of models) {
        for (const { upstreamModel } of routes) {
          expect(upstreamModel.endsWith('*')).toBe(id.endsWith('*'));
        }
      }
    });

    it('has plausible ratios of tier and region prices', () => {
      const usual: Record<string, [least: number, most: number]> = {
        flex: [0.5, 0.53],
        batch: [0.5, 0.5],
        priority: [1.75, 2.5],
        us: [1.1, 1.1],
      };
      const odd: string[] = [];
      for (const { id, pricing, service_tiers: tiers, regions } of models) {
        for (const [name, variant] of Object.entries({ ...tiers, ...regions })) {
          const prices = new Map(Object.entries<string>({ ...pricing }));
          for (const [unit, price] of Object.entries<string>({ ...variant.pricing })) {
            const factor = Number((Number(price) / Number(prices.get(unit))).toFixed(6));
            const [least, most] = usual[name] ?? [0, 0];
            if (factor < least || factor > most) odd.push(`${id} ${name} ${unit} ${factor}`);
          }
        }
      }
      expect(odd).toEqual([]);
      expect(models.filter(({ service_tiers: tiers }) => tiers).length).toBeGreaterThan(20);
    });

    it('names the source and date of preset prices', () => {
      expect(models.find(({ id }) => id === 'qwen/qwen3.6-plus')).toMatchObject({
        source: expect.stringContaining('alibabacloud'),
        as_of: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      });
    });

    it('prices every chat and embedding model', () => {
      for (const model of models.filter(({ kind }) => kind === 'chat' || kind === 'embedding')) {
        for (const { pricing } of model.routes) {
          if (model.id.startsWith('sandbox/fault-')) continue;
          expect({ id: model.id, priced: pricing.prompt > 0n }).toEqual({
            id: model.id,
            priced: true,
          });
        }
      }
    });

    it('lists prices like the public API', () => {
      for (const { pricing } of models) {
        for (const price of [pricing.request, pricing.image]) expect(price).toMatch(/^\d/);
      }
    });
  });

  describe("with the operator's file", () => {
    let folder: string;

    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'catalogue-'));
    });

    afterAll(() => rmSync(folder, { recursive: true }));

    /** Returns the affected part of the catalogue with some rows merged in. */
    function load(rows: unknown) {
      const file = join(folder, 'catalogue.json');
      writeFileSync(file, JSON.stringify(rows));
      const { models, problems } = loadCatalogue(file);
      return { models, problems, find: (id: string) => models.find((model) => model.id === id) };
    }

    const builtIn = loadCatalogue().models;
    const local = {
      id: 'local/llama',
      pricing: { prompt: '0.0000001', completion: '0.0000002' },
    };

    it('adds a model from an id and two prices', () => {
      const { models, problems, find } = load({ models: [local] });
      expect(problems).toEqual([]);
      expect(models).toHaveLength(builtIn.length + 1);
      expect(find('local/llama')).toMatchObject({
        catalogueId: 'local/llama',
        kind: 'chat',
        name: 'llama',
        owned_by: 'local',
        context_length: 128_000,
        max_completion_tokens: null,
        architecture: { modality: 'text->text' },
        pricing: { prompt: '0.0000001', completion: '0.0000002', request: '0', image: '0' },
        routes: [{ provider: 'local', upstreamModel: 'llama', pricing: { prompt: 10n ** 11n } }],
      });
    });

    it('accepts a plain array, and an embedding model without architecture', () => {
      const row = { id: 'local/embed', kind: 'embedding', pricing: { prompt: '0' } };
      expect(load([row]).find('local/embed')).toMatchObject({
        kind: 'embedding',
        architecture: null,
        supported_parameters: ['dimensions', 'encoding_format', 'user'],
      });
    });

    it('overrides fields of a built-in model, and individual prices', () => {
      const before = builtIn.find(({ id }) => id === 'openai/gpt-4o-mini')!;
      const { find, models } = load([
        { id: before.id, name: 'Ours', pricing: { completion: '0.5' } },
      ]);
      const after = find(before.id)!;
      expect(models).toHaveLength(builtIn.length);
      expect(after).toMatchObject({
        name: 'Ours',
        context_length: before.context_length,
        pricing: { ...before.pricing, completion: '0.5' },
      });
      expect(after.routes[0]?.pricing).toMatchObject({
        prompt: before.routes[0]?.pricing.prompt,
        completion: 5n * 10n ** 17n,
      });
    });

    it('keeps a route’s own prices, and accepts time limits', () => {
      const routes = [
        { provider: 'local', model: 'a', priority: 0, timeouts: { first_byte_ms: 5 } },
        { provider: 'other', model: 'b', priority: 1, pricing: { prompt: '0.000007' } },
      ];
      expect(load([{ ...local, routes }]).find('local/llama')?.routes).toMatchObject([
        { provider: 'local', timeouts: { first_byte_ms: 5 }, pricing: { prompt: 10n ** 11n } },
        {
          provider: 'other',
          timeouts: {},
          pricing: { prompt: 7n * 10n ** 12n, completion: 2n * 10n ** 11n },
        },
      ]);
    });

    it('sorts routes by priority', () => {
      const routes = [
        { provider: 'other', model: 'b', priority: 3 },
        { provider: 'local', model: 'a', priority: 0 },
      ];
      const found = load([{ ...local, routes }]).find('local/llama');
      expect(found?.routes.map(({ provider }) => provider)).toEqual(['local', 'other']);
    });

    const route = { provider: 'local', model: 'a', priority: 0 };
    const image = { ...local, kind: 'image', pricing: { image: '1' } };
    const longStep = { above: 9, pricing: { prompt: '1' } };

    it('drops a row’s other price data when the operator sets prices', () => {
      const tiers = { flex: { pricing: { prompt: '0.00000005' } } };
      const base = { ...local, service_tiers: tiers, source: 'a list', as_of: '2026-11-01' };
      const priced = mergeRow(base, { id: local.id, pricing: { completion: '1' } });
      expect(priced).toEqual({ ...local, pricing: { ...local.pricing, completion: '1' } });
      expect(mergeRow(base, { id: local.id, name: 'Ours' })).toEqual({ ...base, name: 'Ours' });
      const regions = { us: { pricing: { prompt: '1' } } };
      expect(mergeRow(base, { id: local.id, pricing: {}, regions })).toEqual({ ...local, regions });
    });

    it.each<[object, RegExp]>([
      [{ id: 'local/x' }, /^local\/x: .*pricing/],
      [{ id: 'local/x', pricing: {} }, /no complete price for a chat model at local/],
      [{ id: 'local/x', pricing: { prompt: '1' } }, /no complete price/],
      [{ id: 'local/x', pricing: null }, /pricing/],
      [{ ...local, pricing: { ...local.pricing, prompt: 0.1 } }, /pricing\.prompt/],
      [
        { ...local, pricing: { ...local.pricing, prompt: '-1' } },
        /prompt must be a decimal number/,
      ],
      [{ ...local, pricing: { ...local.pricing, prompt: '1e-6' } }, /pricing\.prompt/],
      [{ ...local, pricing: { ...local.pricing, prompts: '1' } }, /must not have "prompts"/],
      [{ ...local, kind: 'hologram' }, /kind/],
      [{ ...local, long_prompts: [] }, /long_prompts/],
      [{ ...local, long_prompts: [{ above: 9, pricing: {} }] }, /long_prompts\.0\.pricing/],
      [{ ...local, long_prompts: [{ pricing: { prompt: '1' } }] }, /above/],
      [
        { ...local, long_prompts: [{ above: 9, pricing: { prompt: '1,5' } }] },
        /pricing\.prompt must be a decimal number/,
      ],
      [
        { ...local, kind: 'embedding', long_prompts: [{ above: 9, pricing: { prompt: '1' } }] },
        /long_prompts is for chat models only/,
      ],
      [{ ...local, service_tiers: {} }, /service_tiers/],
      [{ ...local, service_tiers: { Flex: { pricing: { prompt: '1' } } } }, /must not have "Flex"/],
      [
        { ...local, service_tiers: { flex: { pricing: { prompt: '1e-6' } } } },
        /service_tiers\.flex\.pricing\.prompt must be a decimal number/,
      ],
      [{ ...local, service_tiers: { flex: { pricing: {} } } }, /service_tiers\.flex\.pricing/],
      [
        { ...local, service_tiers: { default: { pricing: { prompt: '1' } } } },
        /service_tiers must not have "default"/,
      ],
      [
        { ...local, regions: { global: { pricing: { prompt: '1' } } } },
        /regions must not have "global"/,
      ],
      [{ ...local, sizes: [{ size: '1x1', pricing: { image: '1' } }] }, /sizes is for image/],
      [
        { ...image, sizes: [{ pricing: { image: '1' } }] },
        /sizes\.0 must have "size" or "quality"/,
      ],
      [{ ...image, sizes: [{ size: '1 x 1', pricing: { image: '1' } }] }, /sizes\.0\.size/],
      [
        {
          ...image,
          sizes: [
            { size: '1x1', pricing: { image: '1' } },
            { size: '1x1', pricing: { image: '2' } },
          ],
        },
        /sizes\.1 repeats a size and quality/,
      ],
      [
        { ...image, regions: { us: { pricing: { image: '1' }, long_prompts: [longStep] } } },
        /regions\.us\.long_prompts is for chat models only/,
      ],
      [{ ...local, price_changes: [{ pricing: { prompt: '1' } }] }, /effective_from/],
      [
        { ...local, price_changes: [{ effective_from: '2026-12-01' }] },
        /effective_from changes no price/,
      ],
      ...['2026-13-01', '2026-02-30', '1.12.2026', '2026-12-01T00:00:00Z'].map(
        (day): [object, RegExp] => [
          { ...local, price_changes: [{ effective_from: day, pricing: { prompt: '1' } }] },
          /price_changes\.0\.effective_from must be a valid date/,
        ],
      ),
      [
        {
          ...local,
          price_changes: [
            { effective_from: '2026-12-01', pricing: { prompt: '1' } },
            { effective_from: '2026-12-01', pricing: { prompt: '2' } },
          ],
        },
        /price_changes\.1\.effective_from repeats the date of another change/,
      ],
      [
        {
          ...local,
          routes: [
            {
              ...route,
              price_changes: [{ effective_from: '2026-02-30', pricing: { prompt: '1' } }],
            },
          ],
        },
        /routes\.0\.price_changes\.0\.effective_from/,
      ],
      [
        {
          ...local,
          price_changes: [
            { effective_from: '2026-12-01', service_tiers: { auto: { pricing: { prompt: '1' } } } },
          ],
        },
        /price_changes\.0\.service_tiers must not have "auto"/,
      ],
      [{ ...local, as_of: 'lately' }, /as_of must be a valid date/],
      [{ ...local, as_of: '2026-02-30' }, /as_of must be a valid date/],
      [{ ...local, colour: 'red' }, /the row must not have "colour"/],
      [{ ...local, context_length: 0 }, /context_length/],
      [{ ...local, routes: [] }, /routes/],
      [{ ...local, routes: [{ ...route, priority: 1 }] }, /no route has priority 0/],
      [{ ...local, routes: [{ ...route, provider: 'other' }] }, /primary route is at other/],
      [{ ...local, routes: [route, { ...route, provider: 'b' }] }, /the same priority/],
      [{ ...local, routes: [{ ...route, timeouts: { idle_ms: 0 } }] }, /timeouts/],
      [{ ...local, id: 'llama' }, /^llama: id/],
      [{ ...local, id: 'Local/llama' }, /id/],
      [{ pricing: local.pricing }, /must have required property 'id'/],
      [{ ...local, id: 7 }, /id/],
    ])('rejects %j', (row, problem) => {
      const { models, problems } = load([row]);
      expect(problems).toEqual([expect.stringMatching(problem)]);
      expect(models).toHaveLength(builtIn.length);
    });

    it('does not fall back to the built-in row when the operator’s is invalid', () => {
      const { find, problems } = load([{ id: 'openai/gpt-4o-mini', pricing: { prompt: 'free' } }]);
      expect(problems).toHaveLength(1);
      expect(find('openai/gpt-4o-mini')).toBeUndefined();
    });

    it.each([[null], [{}], [{ models: {} }], [[1]], ['x']])('rejects a file of %j', (content) => {
      expect(() => load(content)).toThrow(
        'GATEWAY_CATALOGUE must name a file with {"models": […]} or a list of rows',
      );
    });

    it('rejects a missing file', () => {
      expect(() => loadCatalogue(join(folder, 'nowhere.json'))).toThrow('ENOENT');
    });
  });
});
