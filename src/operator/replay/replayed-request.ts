import type { RequestOptions } from '../../canonical/request-options.js';
import type { AccountBoundParam, CanonicalRequest } from '../../canonical/canonical-request.js';
import { CHARACTERS_PER_TOKEN } from '../../canonical/prompt-size.js';
import type { RoutingPreferences } from '../../canonical/routing-preferences.js';
import { parsePrice } from '../../canonical/exact-pricing.js';
import { notOnSharedCapacity } from '../../canonical/routing-fields.js';
import type { Usage } from '../../canonical/usage.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import type { ModelKind } from '../../core/catalogue/catalogue.types.js';
import { latestCall, type WindowRow } from './log-window.js';
import { modelIn, providerIn } from './learned-vendors.js';

const NO_TEXT = Buffer.alloc(0);
const DIALECTS: ReadonlySet<string> = new Set<CanonicalRequest['dialect']>([
  'chat',
  'messages',
  'responses',
]);

/**
 * Reconstructs the request of a log row, with its recorded options. For rows without options, the chain
 * consists of the models that were called. If the caller left the order to the gateway, the called
 * providers come first, in their order. If no route answered, only the called providers are allowed,
 * since others would have been called too.
 *
 * @param usage the usage the request will turn out to have
 * @param kind kind of its model
 */
export function requestOf(row: WindowRow, usage: Usage, kind: ModelKind): RoutableRequest {
  const { requestOptions: options = {} } = row;
  const models = chainOf(row);
  const routing = preferencesOf(row, options);
  const { own_account_for: bound, service_tier, inference_geo, size, quality } = options;
  const accountBoundParam = bound === undefined ? undefined : boundTo(bound, options);
  const value = { model: models[0], service_tier, inference_geo, size, quality };
  const endUser = row.endUser ?? undefined;
  const stream = row.streamed;
  // Lists each field, because spreads dominate the time of this function.
  if (kind !== 'chat') {
    const common = { models, routing, stream, endUser, accountBoundParam };
    return { ...common, kind, body: { value }, ceiling: { ...usage }, estimate: usage };
  }
  const { n: choices = 1, max_tokens: maxOutputTokens, web_searches: most } = options;
  return {
    dialect: isDialect(row.endpoint) ? row.endpoint : 'chat',
    models,
    routing,
    stream,
    endUser,
    accountBoundParam,
    body: { bytes: NO_TEXT, value, members: [] },
    choices,
    maxOutputTokens,
    webSearch: most === undefined ? undefined : { most, bound: boundTo('tools') },
    promptSize: {
      tokens: usage.inputTokens,
      characters: usage.inputTokens * CHARACTERS_PER_TOKEN,
      images: 0,
      pages: 0,
      audioSeconds: 0,
    },
    prompt: noTexts,
  };
}

function noTexts(): never {
  throw new Error('a log row has no texts');
}

function chainOf({ requestOptions, attempts, model }: WindowRow): readonly [string, ...string[]] {
  if (requestOptions && !requestOptions.is_cut) {
    const [first = model, ...others] = requestOptions.models ?? [];
    return [first, ...others];
  }
  const called = attempts.map(({ route }) => modelIn(route));
  const [first = model, ...others] = new Set([...called, model]);
  return [first, ...others];
}

function preferencesOf(row: WindowRow, requestOptions: RequestOptions): RoutingPreferences {
  const {
    sort,
    max_price: maxPrice,
    ignore = [],
    allow_fallbacks: allowFallbacks = true,
  } = requestOptions;
  const called = [...new Set(row.attempts.map(({ route }) => providerIn(route)))];
  const last = latestCall(row);
  const isExhausted = row.outcome === 'failed' && row.firstTokenMs === null && last !== undefined;
  const isSorted = sort !== undefined || requestOptions.route === 'sort';
  return {
    order: requestOptions.order ?? (isSorted ? [] : called),
    only: requestOptions.only ?? (isExhausted ? called : undefined),
    ignore,
    allowFallbacks,
    sort,
    strategy: requestOptions.route ?? 'fallback',
    maxPrice: maxPrice && {
      prompt: priceIn(maxPrice.prompt),
      completion: priceIn(maxPrice.completion),
      request: priceIn(maxPrice.request),
      image: priceIn(maxPrice.image),
    },
    maxCost: requestOptions.max_cost,
    maxCostMode: requestOptions.max_cost_mode,
    hedgeMs: requestOptions.hedge_ms,
  };
}

function priceIn(decimal: string | undefined): bigint | undefined {
  return decimal === undefined ? undefined : parsePrice(decimal);
}

/** For routes with prices for a tier or region, the option only selects the price. */
function boundTo(
  param: string,
  { service_tier: tier, inference_geo: region }: RequestOptions = {},
) {
  const bound: AccountBoundParam = notOnSharedCapacity(param, 'the log says so');
  if (param === 'service_tier' && tier !== undefined) bound.priced = { tier };
  else if (param === 'inference_geo' && region !== undefined) bound.priced = { region };
  return bound;
}

function isDialect(endpoint: string): endpoint is CanonicalRequest['dialect'] {
  return DIALECTS.has(endpoint);
}
