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
 * The request of a log row. What its caller asked for beyond a model is as the row has it. Where the row has
 * nothing of it, the chain is that of the models whose routes were asked. Where the caller left the order to the
 * gateway, the providers that were asked stand first, in the order in which they were, and a request that no route
 * answered had no others that it might take, or they would have been asked.
 *
 * @param usage what it turns out to use
 * @param kind of its model
 */
export function requestOf(row: WindowRow, usage: Usage, kind: ModelKind): RoutableRequest {
  const { asked: wishes = {} } = row;
  const models = chainOf(row);
  const routing = preferencesOf(row, wishes);
  const { own_account_for: bound, service_tier, inference_geo, size, quality } = wishes;
  const accountBoundParam = bound === undefined ? undefined : boundTo(bound, wishes);
  const value = { model: models[0], service_tier, inference_geo, size, quality };
  const endUser = row.endUser ?? undefined;
  const stream = row.streamed;
  // Field by field, since spreads take the most of the time of this.
  if (kind !== 'chat') {
    const common = { models, routing, stream, endUser, accountBoundParam };
    return { ...common, kind, body: { value }, ceiling: { ...usage }, estimate: usage };
  }
  const { n: choices = 1, max_tokens: maxOutputTokens, web_searches: most } = wishes;
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

function chainOf({ asked, attempts, model }: WindowRow): readonly [string, ...string[]] {
  if (asked && !asked.is_cut) {
    const [first = model, ...others] = asked.models ?? [];
    return [first, ...others];
  }
  const called = attempts.map(({ route }) => modelIn(route));
  const [first = model, ...others] = new Set([...called, model]);
  return [first, ...others];
}

function preferencesOf(row: WindowRow, asked: RequestOptions): RoutingPreferences {
  const { sort, max_price: maxPrice, ignore = [], allow_fallbacks: allowFallbacks = true } = asked;
  const called = [...new Set(row.attempts.map(({ route }) => providerIn(route)))];
  const last = latestCall(row);
  const isExhausted = row.outcome === 'failed' && row.firstTokenMs === null && last !== undefined;
  const isSorted = sort !== undefined || asked.route === 'sort';
  return {
    order: asked.order ?? (isSorted ? [] : called),
    only: asked.only ?? (isExhausted ? called : undefined),
    ignore,
    allowFallbacks,
    sort,
    strategy: asked.route ?? 'fallback',
    maxPrice: maxPrice && {
      prompt: priceIn(maxPrice.prompt),
      completion: priceIn(maxPrice.completion),
      request: priceIn(maxPrice.request),
      image: priceIn(maxPrice.image),
    },
    maxCost: asked.max_cost,
    maxCostMode: asked.max_cost_mode,
    hedgeMs: asked.hedge_ms,
  };
}

function priceIn(decimal: string | undefined): bigint | undefined {
  return decimal === undefined ? undefined : parsePrice(decimal);
}

/** A tier or region is no more than a choice of prices where a route has some for it. */
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
