import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { exactPricingOf } from '../catalogue/exact-pricing-of.js';
import type { CanonicalRequest, VendorHeaders } from '../../canonical/canonical-request.js';
import { messagesRequest } from '../../../test/support/messages-requests.js';
import type { Pricing } from '../catalogue/catalogue.types.js';
import type { LeftOutRoute } from './plan.js';
import type { RoutingState } from './routing-state.js';
import { selectRoutes } from './select-routes.js';
import { NOTHING_PARTICULAR, gpt, claude } from '../../../test/support/route-selection.js';

describe(selectRoutes.name, () => {
  describe('with options that only some vendors get and some models have no price for', () => {
    const BOUND = { param: 'anthropic-beta', message: 'No.' };
    const SEARCH = { param: 'tools.0.type', message: 'No searches.' };
    const selectMessages = (fields: Partial<CanonicalRequest>, prices: Partial<Pricing> = {}) => {
      const priced = {
        ...claude,
        routes: claude.routes.map((route) => ({
          ...route,
          pricing: exactPricingOf({ prompt: '0.000001', completion: '0.000002', ...prices }),
        })),
      };
      return selectRoutes({ ...messagesRequest(), ...fields }, [priced, gpt], {
        ...NOTHING_PARTICULAR,
        vendorOf: (provider) => ({
          passesVendorHeaders: provider === 'anthropic',
          runsWebSearch: () => provider === 'anthropic' || provider === 'vertex',
        }),
      }).map(({ provider }) => provider);
    };
    const ALL = ['anthropic', 'bedrock', 'vertex', 'openai', 'azure'];
    const headers = (fields: Partial<VendorHeaders>): Partial<CanonicalRequest> => ({
      vendorHeaders: {
        own: {},
        shared: {},
        dropped: [],
        bound: undefined,
        longContext: undefined,
        ...fields,
      },
    });

    it('excludes routes that would receive an unpriced header', () => {
      expect(selectMessages(headers({}))).toEqual(ALL);
      expect(selectMessages(headers({ bound: BOUND }))).toEqual(ALL.slice(1));
    });

    it('rejects when no route is left', () => {
      const routing = { ...messagesRequest().routing, only: ['anthropic'] };
      expect(() => selectMessages({ ...headers({ bound: BOUND }), routing })).toThrow('No.');
    });

    it('allows long prompts where they are priced', () => {
      const { context_length: context } = claude;
      const longer = { ...BOUND, tokens: context + 1 };
      expect(selectMessages(headers({ longContext: longer }))).toEqual(ALL.slice(1));
      const priced = { ...BOUND, tokens: context };
      expect(selectMessages(headers({ longContext: priced }))).toEqual(ALL);
    });

    it('reserves the cost of searches, and another reading of the prompt for each', () => {
      const ceilingOf = (most: number) =>
        selectRoutes(
          { ...messagesRequest(), webSearch: { most, bound: SEARCH } },
          [gpt],
          NOTHING_PARTICULAR,
        )[0].ceiling;
      const { inputTokens: prompt } = ceilingOf(0);
      expect(ceilingOf(3)).toMatchObject({
        webSearches: 3,
        inputTokens: 4 * prompt + 3 * 10_000,
      });
    });

    it('excludes routes that would search for free', () => {
      const webSearch = { most: 10, bound: SEARCH };
      expect(selectMessages({ webSearch })).toEqual(['bedrock', 'openai', 'azure']);
      expect(selectMessages({ webSearch }, { web_search: '0.01' })).toEqual(ALL);
      const routing = { ...messagesRequest().routing, only: ['vertex'] };
      expect(() => selectMessages({ webSearch, routing })).toThrow('No searches.');
    });
  });
});

describe('excluded routes', () => {
  const reasonsOf = (fields: Record<string, unknown>, rest: Partial<RoutingState>) => {
    const leftOut: LeftOutRoute[] = [];
    const state = { ...NOTHING_PARTICULAR, ...rest, leftOut };
    try {
      selectRoutes(chatRequest(fields), [gpt, claude], state);
    } catch (error) {
      leftOut.push({ route: { model: (error as Error).name, provider: '' }, reason: 'unpriced' });
    }
    return leftOut.map(({ route: { model, provider }, reason }) => [model, provider, reason]);
  };
  const at =
    (...providers: string[]) =>
    ({ provider }: { provider: string }): boolean =>
      providers.includes(provider);

  it('are listed with the reason', () => {
    const fields = { provider: { ignore: ['vertex'], allow_fallbacks: false } };
    const state = {
      isConfigured: (provider: string) => provider !== 'azure',
      isPaused: at('bedrock'),
    };
    expect(reasonsOf(fields, state)).toEqual([
      ['openai/gpt', 'azure', 'not_configured'],
      ['anthropic/claude', 'vertex', 'preferences'],
      ['anthropic/claude', 'bedrock', 'paused'],
      ['anthropic/claude', 'anthropic', 'no_fallbacks'],
    ]);
    expect(reasonsOf({}, { isCooling: at('azure', 'vertex') })).toEqual([
      ['openai/gpt', 'azure', 'cooling'],
      ['anthropic/claude', 'vertex', 'cooling'],
    ]);
  });

  it('include those after the best one when all cool down', () => {
    const reasons = reasonsOf({}, { isCooling: () => true });
    expect(reasons.map(([, provider]) => provider)).toEqual([
      'azure',
      'anthropic',
      'bedrock',
      'vertex',
    ]);
  });

  it.each<[string, Record<string, unknown>, Partial<RoutingState>, string, string]>([
    ['paused', {}, { isPaused: () => true }, 'paused', 'ProviderUnavailableError'],
    [
      'priced too high',
      { provider: { max_price: { prompt: 0 } } },
      {},
      'max_price',
      'NotFoundError',
    ],
    ['without a price', { service_tier: 'flex' }, {}, 'unpriced', 'InvalidRequestError'],
  ])('are listed when all are %s', (_, fields, state, reason, error) => {
    const named = reasonsOf(fields, state);
    expect(named.slice(0, 5).map((entry) => entry[2])).toEqual(Array(5).fill(reason));
    expect(named.at(-1)?.[0]).toBe(error);
  });
});
