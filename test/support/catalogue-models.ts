import type { ExactPricing } from '../../src/canonical/exact-pricing.js';
import { exactPricingOf } from '../../src/core/catalogue/exact-pricing-of.js';
import type { Model, ModelRoute } from '../../src/core/catalogue/catalogue.types.js';

/** Prices in USD per token as exact integers. */
export function tokenPricing(prompt = '0.000001', completion = '0.000002'): ExactPricing {
  return exactPricingOf({ prompt, completion });
}

/** A route of a chat model; omitted fields do not matter to the test. */
export function modelRoute(provider: string, overrides: Partial<ModelRoute> = {}): ModelRoute {
  return {
    provider,
    upstreamModel: `${provider}-model`,
    priority: 0,
    pricing: tokenPricing(),
    timeouts: {},
    ...overrides,
  };
}

/** A chat model with routes at some providers; the first is the primary one. */
export function chatModel(
  id: string,
  routes: readonly ModelRoute[],
  overrides: Partial<Model> = {},
): Model {
  return {
    id,
    catalogueId: id,
    kind: 'chat',
    name: id,
    description: '',
    created: 0,
    owned_by: id.split('/', 1)[0]!,
    context_length: 128_000,
    max_completion_tokens: null,
    is_moderated: false,
    architecture: null,
    supported_parameters: [],
    pricing: { prompt: '0.000001', completion: '0.000002', request: '0', image: '0' },
    routes,
    ...overrides,
  };
}
