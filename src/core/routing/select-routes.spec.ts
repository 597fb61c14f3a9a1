import { describe, expect, it } from '@jest/globals';
import { chatModel, modelRoute, tokenPricing } from '../../../test/support/catalogue-models.js';
import { embeddingRequest } from '../../../test/support/embedding-requests.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import { exactPricingOf } from '../catalogue/exact-pricing-of.js';
import { NotFoundError, ProviderUnavailableError } from '../../platform/errors/gateway-errors.js';
import { selectRoutes } from './select-routes.js';
import {
  NOTHING_PARTICULAR,
  gpt,
  type Situation,
  select,
} from '../../../test/support/route-selection.js';

const providersOf = (...rest: Parameters<typeof select>) =>
  select(...rest).map(({ provider }) => provider);

describe(selectRoutes.name, () => {
  it('returns the routes of each model in the order of the chain', () => {
    expect(select().map(({ model, provider }) => `${model} at ${provider}`)).toEqual([
      'openai/gpt at openai',
      'openai/gpt at azure',
      'anthropic/claude at anthropic',
      'anthropic/claude at bedrock',
      'anthropic/claude at vertex',
    ]);
  });

  it('tries no paused route, even when all others cool down', () => {
    const situation = { paused: ['openai'], cooling: ['azure', 'anthropic', 'bedrock', 'vertex'] };
    expect(providersOf({}, situation)).toEqual(['azure']);
    expect(providersOf({}, { paused: ['azure', 'vertex'] })).toEqual([
      'openai',
      'anthropic',
      'bedrock',
    ]);
  });

  it('reports that all routes are paused, even when preferences exclude the others', () => {
    const refusal = expect.objectContaining({
      status: 503,
      type: 'provider_unavailable',
      message: expect.stringMatching(/paused every route to openai\/gpt that/),
    });
    expect(() => select({}, { paused: ['openai', 'azure'] }, [gpt])).toThrow(refusal);
    const wish = { provider: { only: ['openai'] } };
    expect(() => select(wish, { paused: ['openai'] }, [gpt])).toThrow(refusal);
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    [
      'order',
      { order: ['vertex', 'azure'] },
      ['azure', 'openai', 'vertex', 'anthropic', 'bedrock'],
    ],
    [
      'order of unknown providers',
      { order: ['x'] },
      ['openai', 'azure', 'anthropic', 'bedrock', 'vertex'],
    ],
    ['only', { only: ['azure', 'bedrock'] }, ['azure', 'bedrock']],
    ['ignore', { ignore: ['openai', 'anthropic'] }, ['azure', 'bedrock', 'vertex']],
    ['only and ignore', { only: ['azure', 'vertex'], ignore: ['azure'] }, ['vertex']],
    ['no fallbacks', { allow_fallbacks: false }, ['openai']],
    ['no fallbacks and order', { allow_fallbacks: false, order: ['azure'] }, ['azure']],
  ])('applies %s', (_, provider, expected) => {
    expect(providersOf({ provider })).toEqual(expected);
  });

  it('excludes providers that are unconfigured or in cooldown', () => {
    expect(providersOf({}, { unconfigured: ['openai'], cooling: ['bedrock'] })).toEqual([
      'azure',
      'anthropic',
      'vertex',
    ]);
  });

  it('uses the next one when fallbacks are off and the first cools down', () => {
    const provider = { allow_fallbacks: false };
    expect(providersOf({ provider }, { cooling: ['openai'] })).toEqual(['azure']);
  });

  it('tries the best one when all cool down', () => {
    const cooling = ['openai', 'azure', 'anthropic', 'bedrock', 'vertex'];
    expect(providersOf({}, { cooling })).toEqual(['openai']);
    expect(providersOf({ provider: { ignore: ['openai'] } }, { cooling })).toEqual(['azure']);
    expect(providersOf({ provider: { order: ['azure'] } }, { cooling })).toEqual(['azure']);
  });

  it('names the models without a configured provider', () => {
    const unconfigured = ['openai', 'azure', 'anthropic', 'bedrock', 'vertex'];
    expect(() => select({}, { unconfigured })).toThrow(ProviderUnavailableError);
    expect(() => select({}, { unconfigured })).toThrow('openai/gpt, anthropic/claude');
  });

  it.each([
    { only: ['fish-audio'] },
    { only: [] },
    { ignore: ['openai', 'azure', 'anthropic', 'bedrock', 'vertex'] },
    { only: ['openai'], ignore: ['openai'] },
  ])('throws when nothing is left by %j', (provider) => {
    expect(() => select({ provider })).toThrow(NotFoundError);
    expect(() => select({ provider })).toThrow(expect.objectContaining({ param: 'provider' }));
  });

  describe('sorted', () => {
    const priced = (provider: string, prompt: string, completion: string) =>
      modelRoute(provider, { pricing: tokenPricing(prompt, completion) });
    const models = [
      chatModel('a/dear', [
        priced('a', '0.000003', '0.000009'),
        priced('b', '0.000002', '0.000009'),
      ]),
      chatModel('c/cheap', [
        priced('c', '0.000001', '0.000001'),
        priced('d', '0.000001', '0.000001'),
      ]),
    ];
    const sorted = (fields: Record<string, unknown> = {}, situation: Situation = {}) =>
      providersOf({ route: 'sort', ...fields }, situation, models);

    it('puts the cheapest first, across all models', () => {
      expect(sorted()).toEqual(['c', 'd', 'b', 'a']);
    });

    it('weighs prompt and completion by the request’s needs', () => {
      const routes = [priced('in', '0.00001', '0.000001'), priced('out', '0.000001', '0.00001')];
      const model = chatModel('in/x', routes);
      const cheapest = (fields: Record<string, unknown>) =>
        providersOf({ route: 'sort', ...fields }, {}, [model])[0];
      const long = [{ role: 'user', content: 'x'.repeat(3_000) }];
      expect(cheapest({ max_tokens: 4_000 })).toBe('in');
      expect(cheapest({ max_tokens: 1, messages: long })).toBe('out');
    });

    it('sorts equal prices by latency, unknown ones last', () => {
      expect(sorted({}, { latencies: { d: 50 } })).toEqual(['d', 'c', 'b', 'a']);
      expect(sorted({}, { latencies: { d: 50, c: 20 } })).toEqual(['c', 'd', 'b', 'a']);
    });

    it('weighs other units than tokens', () => {
      const spoken = (provider: string, prices: object) =>
        modelRoute(provider, { pricing: exactPricingOf(prices) });
      const model = chatModel('a/x', [
        spoken('by-character', { audio_character: '0.00001' }),
        spoken('by-byte', { audio_byte: '0.000004' }),
        spoken('by-minute', { audio_minute: '0.006' }),
      ]);
      const cheapest = (used: Partial<Usage>) =>
        selectRoutes(
          { ...embeddingRequest({ route: 'sort' }), ceiling: { ...NO_USAGE, ...used } },
          [model],
          NOTHING_PARTICULAR,
        ).map(({ provider }) => provider);
      const minute = { audioMs: 60_000 };
      expect(cheapest({ inputCharacters: 10, inputBytes: 10, ...minute })).toEqual([
        'by-byte',
        'by-character',
        'by-minute',
      ]);
      expect(cheapest({ inputCharacters: 10, inputBytes: 30, audioMs: 1_100 })).toEqual([
        'by-character',
        'by-minute',
        'by-byte',
      ]);
    });

    it('still applies the other preferences', () => {
      expect(sorted({ provider: { ignore: ['c'], allow_fallbacks: false } })).toEqual(['d']);
      expect(sorted({}, { cooling: ['c', 'd'] })).toEqual(['b', 'a']);
      expect(sorted({}, { cooling: ['a', 'b', 'c', 'd'] })).toEqual(['c']);
    });
  });

  it('includes everything that a call and the ledger need', () => {
    expect(select()[1]).toMatchObject({
      model: 'openai/gpt',
      catalogueId: 'openai/gpt',
      provider: 'azure',
      upstreamModel: 'azure-model',
      trafficMode: 'shared',
      pricing: tokenPricing(),
    });
  });
});
