import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { JsonObject } from '../../platform/http/json-body.js';
import { CatalogueService } from './catalogue.service.js';
import { builtInRows, mergeRows } from './load-catalogue.js';

const catalogue = new CatalogueService({ catalogueFile: undefined });

describe(CatalogueService.name, () => {
  it('finds a model by its exact id', () => {
    expect(catalogue.find('openai/gpt-4o-mini')).toMatchObject({
      id: 'openai/gpt-4o-mini',
      catalogueId: 'openai/gpt-4o-mini',
    });
  });

  it.each([
    'openai/gpt-4o-mini ',
    'OPENAI/gpt-4o-mini',
    'gpt-4o-mini',
    'openai/',
    '',
    '*',
    'openai/f',
  ])('does not find %j', (alias) => {
    expect(catalogue.find(alias)).toBeUndefined();
  });

  describe('with prices for unlisted models', () => {
    const priced = new CatalogueService({
      catalogueFile: undefined,
      unlistedModels: ['groq/openai/gpt-oss-20b', 'openai/no-such-row', 'openai/tts-1'],
    });

    it('finds any other model of their providers, at their price and over their route', () => {
      const row = priced.find('groq/openai/gpt-oss-20b')!;
      const model = priced.find('groq/new/model-1')!;
      expect(model).toMatchObject({
        id: 'groq/new/model-1',
        name: 'new/model-1',
        catalogueId: row.id,
        pricing: row.pricing,
      });
      // Fallback vendors of the row serve its model, but not necessarily this one.
      expect(row.routes.length).toBeGreaterThan(1);
      expect(model.routes).toEqual([{ ...row.routes[0], upstreamModel: 'new/model-1' }]);
    });

    it('does not affect listed models, and lists no others', () => {
      expect(priced.find('groq/llama-3.1-8b-instant')).toEqual(
        catalogue.find('groq/llama-3.1-8b-instant'),
      );
      expect(priced.models).toHaveLength(catalogue.models.length);
    });

    it.each(['groq/Llama-3.1-8B-instant', 'groq/llama-3.1-8b-instant '])(
      'does not price %j differently from its row',
      (alias) => {
        expect(priced.find(alias)).toBeUndefined();
      },
    );

    it.each([
      ...['groq/new ', 'groq/ new', 'groq/new\t', 'groq/new\0', 'groq/new\u200b', 'groq/new\u00ad'],
      ...['groq/ｎew', 'groq/ñew', 'groq/n\u0303ew', 'groq/nеw', 'groq/\u212aew', 'groq/\ud800'],
      ...['groq/new%20', 'groq/new?x', 'groq/new#x', 'groq/new\\x', 'groq/*', 'groq/"new"'],
      ...['groq/..', 'groq/.', 'groq/x/../new', 'groq//new', 'groq/new/'],
    ])('does not find %j, which a list of denied models could miss', (alias) => {
      expect(priced.find(alias)).toBeUndefined();
    });

    it.each(['groq/', 'groq', 'mistral/new', 'openai/new', `groq/${'x'.repeat(300)}`])(
      'does not find %s',
      (alias) => {
        expect(priced.find(alias)).toBeUndefined();
      },
    );
  });

  it('suggests similar ids for an unknown one', () => {
    const isOpen = ({ id }: { id: string }): boolean => id !== 'openai/gpt-4o';
    expect(catalogue.nearest('openai/gpt4o-mini', () => true)[0]).toBe('openai/gpt-4o-mini');
    expect(catalogue.nearest('openai/gpt-4o', isOpen)).not.toContain('openai/gpt-4o');
  });

  it('finds members of a family, the longest family first', () => {
    const member = catalogue.find('openai/ft:gpt-4o-mini-2024-07-18:org::abc');
    expect(member).toMatchObject({
      id: 'openai/ft:gpt-4o-mini-2024-07-18:org::abc',
      name: 'ft:gpt-4o-mini-2024-07-18:org::abc',
      catalogueId: 'openai/ft:gpt-4o-mini*',
    });
    expect(member?.routes[0]).toMatchObject({
      provider: 'openai',
      upstreamModel: 'ft:gpt-4o-mini-2024-07-18:org::abc',
    });
    expect(catalogue.find('openai/ft:gpt-4o-2024-08-06:org::abc')?.catalogueId).toBe(
      'openai/ft:gpt-4o*',
    );
    expect(catalogue.find('openai/ft:gpt-4.1-mini-2025-04-14:org')?.catalogueId).toBe(
      'openai/ft:gpt-4.1-mini*',
    );
  });

  it.each(['openai/ft:gpt-4o:a b', 'openai/ft:gpt-4o:\u202e', 'openai/ft:gpt-4o/../x'])(
    'finds no member %j',
    (alias) => {
      expect(catalogue.find(alias)).toBeUndefined();
    },
  );

  it('does not change a family by looking a member up', () => {
    catalogue.find('openai/ft:gpt-4o:one');
    expect(catalogue.find('openai/ft:gpt-4o:two')?.routes[0]?.upstreamModel).toBe('ft:gpt-4o:two');
  });

  it('replaces all rows, but reuses the models of unchanged ones', () => {
    const changing = new CatalogueService({ catalogueFile: undefined });
    const rows = new Map(builtInRows());
    changing.use(rows, 1);
    const [kept, changed] = ['openai/gpt-4o', 'openai/gpt-4o-mini'].map((id) => changing.find(id));
    const before = changing.fingerprint;
    changing.use(
      mergeRows(rows, [
        { id: 'openai/gpt-4o-mini', pricing: { completion: '0.5' } },
        { id: 'openai/ft:gpt-4o*', removed: true },
      ]),
      2,
    );
    expect(changing.version).toBe(2);
    expect(changing.fingerprint).not.toBe(before);
    expect(changing.find('openai/gpt-4o')).toBe(kept);
    expect(changing.find('openai/gpt-4o-mini')?.pricing.completion).toBe('0.5');
    expect(changed?.pricing.completion).not.toBe('0.5');
    expect(changing.find('openai/ft:gpt-4o:one')).toBeUndefined();
    changing.use(rows, 3);
    expect(changing.fingerprint).toBe(before);
    expect(changing.find('openai/ft:gpt-4o:one')).toBeDefined();
  });

  describe('with prices that change on a date', () => {
    const START = Date.parse('2027-01-01T00:00:00Z');
    const id = 'local/changing';
    const micro = 10n ** 12n;
    const row = {
      id,
      pricing: { prompt: '0.000001', completion: '0.000002' },
      price_changes: [
        { effective_from: '2027-02-01', pricing: { prompt: '0.000005' } },
        {
          effective_from: '2027-01-01',
          pricing: { completion: '0.000003' },
          long_prompts: [{ above: 9, pricing: { prompt: '0.000009' } }],
        },
      ],
      routes: [
        { provider: 'local', model: 'changing', priority: 0 },
        {
          provider: 'other',
          model: 'changing',
          priority: 1,
          pricing: { completion: '0.000007' },
          price_changes: [{ effective_from: '2027-01-15', pricing: { completion: '0.000008' } }],
        },
      ],
    };
    let nowMs: number;

    beforeEach(() => {
      nowMs = START - 1;
      jest.spyOn(Date, 'now').mockImplementation(() => nowMs);
    });

    afterEach(() => {
      jest.restoreAllMocks();
    });

    function catalogueOf(...rows: JsonObject[]) {
      const made = new CatalogueService({ catalogueFile: undefined });
      made.use(mergeRows(builtInRows(), rows), 7);
      const pricesOf = () => made.find(id)!.routes.map(({ pricing }) => pricing);
      return { made, pricesOf };
    }

    it('applies new prices from the first millisecond of the day', () => {
      const { made, pricesOf } = catalogueOf(row);
      const before = made.find(id)!;
      const other = made.find('openai/gpt-4o-mini');
      const { fingerprint } = made;
      expect(before.routes[0]).toMatchObject({
        pricing: { prompt: micro, completion: 2n * micro },
      });
      nowMs = START;
      expect(made.find(id)).toMatchObject({ pricing: { completion: '0.000003' } });
      expect(pricesOf()).toMatchObject([
        { prompt: micro, completion: 3n * micro },
        { prompt: micro, completion: 7n * micro },
      ]);
      expect(made.find(id)!.routes[0]!.longPrompts).toMatchObject([
        { above: 9, pricing: { prompt: 9n * micro } },
      ]);
      expect(made.find('openai/gpt-4o-mini')).toBe(other);
      expect(made).toMatchObject({ fingerprint, version: 7 });
      // Requests planned before keep their prices.
      expect(before.routes[0]!.pricing.completion).toBe(2n * micro);
    });

    it('changes one route’s prices alone, and applies later changes over earlier ones', () => {
      const { pricesOf } = catalogueOf(row);
      nowMs = Date.parse('2027-01-15T00:00:00Z');
      expect(pricesOf()).toMatchObject([{ completion: 3n * micro }, { completion: 8n * micro }]);
      nowMs = Date.parse('2027-02-01T00:00:00Z');
      expect(pricesOf()).toMatchObject([
        { prompt: 5n * micro, completion: 3n * micro },
        { prompt: 5n * micro, completion: 8n * micro },
      ]);
    });

    it('starts with past changes applied', () => {
      nowMs = Date.parse('2027-03-01T00:00:00Z');
      expect(catalogueOf(row).pricesOf()).toMatchObject([{ prompt: 5n * micro }, {}]);
    });

    it('drops changes when the operator sets a price', () => {
      const { pricesOf } = catalogueOf(row, { id, pricing: { prompt: '0.000004' } });
      nowMs = Date.parse('2027-02-01T00:00:00Z');
      expect(pricesOf()).toMatchObject([{ prompt: 4n * micro }, { prompt: 4n * micro }]);
    });
  });

  it('has the same fingerprint for any order of rows and fields', () => {
    const other = new CatalogueService({ catalogueFile: undefined });
    const turned = [...builtInRows()].reverse();
    other.use(
      new Map(turned.map(([id, row]) => [id, Object.fromEntries(Object.entries(row).reverse())])),
      1,
    );
    expect(other.fingerprint).toBe(catalogue.fingerprint);
  });

  it('lists no families', () => {
    expect(catalogue.models.length).toBeGreaterThan(100);
    expect(catalogue.models.filter(({ id }) => id.includes('*'))).toEqual([]);
  });
});
