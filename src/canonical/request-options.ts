import {
  MAX_COST_MODES,
  ROUTE_SORTS,
  SORT_PARTITIONS,
  type MaxCostMode,
  type MaxPrice,
  type Recovery,
  type RouteSort,
} from './routing-preferences.js';
import { toDecimal } from './exact-pricing.js';
import { isTextRequest, type RoutableRequest } from './work-request.js';

/** Limit on stored lists of names, in characters of JSON; longer ones are omitted. */
const MAX_LISTS = 2_048;
const MAX_NAME = 256;
/** Values that request nothing in particular. */
const UNSPECIFIC: ReadonlySet<unknown> = new Set([undefined, null, '', 'auto', 'default']);
/** Body fields that select among a route's prices. */
const PRICE_SELECTORS = ['service_tier', 'inference_geo', 'size', 'quality'] as const;
const KEPT_RECOVERIES = ['continue', 'any'] as const satisfies readonly Recovery[];
const PRICE_UNITS = ['prompt', 'completion', 'request', 'image'] as const;

/**
 * The caller's request options beyond the model, as logged: those that affect routes and holds, as names
 * and numbers without any text. Absent fields were not requested.
 */
export interface RequestOptions {
  /** The model chain, when it has several. */
  readonly models?: readonly string[];
  readonly order?: readonly string[];
  readonly only?: readonly string[];
  readonly ignore?: readonly string[];
  /** True when the lists were too long to store. */
  readonly is_cut?: true;
  readonly allow_fallbacks?: false;
  readonly route?: 'sort';
  readonly sort?: RouteSort;
  /** USD per million tokens, or per unit, as decimals. */
  readonly max_price?: Partial<Record<keyof MaxPrice, string>>;
  /** Credits. */
  readonly max_cost?: number;
  readonly max_cost_mode?: MaxCostMode;
  readonly recovery?: Exclude<Recovery, 'off'>;
  readonly hedge_ms?: number;
  /** Per answer. */
  readonly max_tokens?: number;
  /** Number of answers, when more than one. */
  readonly n?: number;
  /** Web searches that the vendor may run. */
  readonly web_searches?: number;
  readonly service_tier?: string;
  /** A region, as the vendor's field names it. */
  readonly inference_geo?: string;
  /** Size of images and video. */
  readonly size?: string;
  readonly quality?: string;
  /** The field that keeps the request off shared capacity. */
  readonly own_account_for?: string;
  /** A hash that identifies the conversation, for routing its turns together. */
  readonly conversation?: string;
}

type Members = Readonly<Record<string, unknown>>;

/** Options that a caller may set by header, or its tenant for all requests, as well as in the body. */
export interface RequestPreferences {
  readonly recovery?: Recovery | undefined;
  readonly hedgeMs?: number | undefined;
  readonly costLimit?: { readonly credits: number; readonly mode: MaxCostMode } | undefined;
}

/** Returns undefined when only a model was requested. */
export function requestOptionsOf(
  request: RoutableRequest,
  { recovery, hedgeMs, costLimit }: RequestPreferences,
  conversation: string | undefined,
): RequestOptions | undefined {
  const { models, routing, accountBoundParam } = request;
  const { order, only, ignore, allowFallbacks, strategy, sort, maxPrice } = routing;
  const text = isTextRequest(request) ? request : undefined;
  const body: Members = request.body.value;
  const isPlain =
    models.length === 1 &&
    order.length === 0 &&
    only === undefined &&
    ignore.length === 0 &&
    allowFallbacks &&
    strategy === 'fallback' &&
    sort === undefined &&
    maxPrice === undefined &&
    costLimit === undefined &&
    (recovery === undefined || recovery === 'off') &&
    hedgeMs === undefined &&
    conversation === undefined &&
    accountBoundParam === undefined &&
    UNSPECIFIC.has(body.service_tier) &&
    UNSPECIFIC.has(body.inference_geo) &&
    UNSPECIFIC.has(body.size) &&
    UNSPECIFIC.has(body.quality) &&
    (!text || (text.maxOutputTokens === undefined && text.choices === 1 && !text.webSearch));
  if (isPlain) return undefined;
  const { maxOutputTokens, choices = 1, webSearch } = text ?? {};
  const lists = {
    ...(models.length > 1 && { models }),
    ...(order.length > 0 && { order }),
    ...(only && { only }),
    ...(ignore.length > 0 && { ignore }),
  };
  const others: RequestOptions = {
    ...(!allowFallbacks && { allow_fallbacks: false }),
    ...(strategy === 'sort' && { route: 'sort' }),
    ...(sort && { sort }),
    ...(maxPrice && { max_price: decimalsOf(maxPrice) }),
    ...(costLimit && { max_cost: costLimit.credits, max_cost_mode: costLimit.mode }),
    ...(recovery && recovery !== 'off' && { recovery }),
    ...(hedgeMs !== undefined && { hedge_ms: hedgeMs }),
    ...(maxOutputTokens !== undefined && { max_tokens: maxOutputTokens }),
    ...(choices > 1 && { n: choices }),
    ...(webSearch && { web_searches: webSearch.most }),
    ...readPriceSelectors(body),
    ...(accountBoundParam && { own_account_for: accountBoundParam.param.slice(0, MAX_NAME) }),
    ...(conversation !== undefined && { conversation }),
  };
  const isLong = JSON.stringify(lists).length > MAX_LISTS;
  const asked: RequestOptions = isLong ? { is_cut: true, ...others } : { ...lists, ...others };
  return Object.keys(asked).length > 0 ? asked : undefined;
}

/** Parses logged request options, skipping invalid fields; undefined when there are none. */
export function readRequestOptions(value: unknown): RequestOptions | undefined {
  if (!isObject(value)) return undefined;
  const { sort, max_price: prices } = value;
  const asked: RequestOptions = {
    ...named('models', textsOf(value.models)),
    ...named('order', textsOf(value.order)),
    ...named('only', textsOf(value.only)),
    ...named('ignore', textsOf(value.ignore)),
    ...(value.is_cut === true && { is_cut: true }),
    ...(value.allow_fallbacks === false && { allow_fallbacks: false }),
    ...(value.route === 'sort' && { route: 'sort' }),
    ...named('sort', isObject(sort) ? readSort(sort) : undefined),
    ...named('max_price', isObject(prices) ? readPrices(prices) : undefined),
    ...named('max_cost', countOf(value.max_cost)),
    ...named('max_cost_mode', oneOf(MAX_COST_MODES, value.max_cost_mode)),
    ...named('recovery', oneOf(KEPT_RECOVERIES, value.recovery)),
    ...named('hedge_ms', countOf(value.hedge_ms)),
    ...named('max_tokens', countOf(value.max_tokens)),
    ...named('n', countOf(value.n)),
    ...named('web_searches', countOf(value.web_searches)),
    ...readPriceSelectors(value),
    ...named('own_account_for', textOf(value.own_account_for)),
    ...named('conversation', textOf(value.conversation)),
  };
  return Object.keys(asked).length > 0 ? asked : undefined;
}

function named<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): Partial<Record<Name, Value>> {
  const named: Partial<Record<Name, Value>> = {};
  if (value !== undefined) named[name] = value;
  return named;
}

function decimalsOf(prices: MaxPrice): RequestOptions['max_price'] {
  const decimals: Partial<Record<keyof MaxPrice, string>> = {};
  for (const unit of PRICE_UNITS) {
    const price = prices[unit];
    if (price !== undefined) decimals[unit] = toDecimal(price);
  }
  return decimals;
}

function readPrices(value: Members): RequestOptions['max_price'] {
  const decimals: Partial<Record<keyof MaxPrice, string>> = {};
  for (const unit of PRICE_UNITS) {
    const price = value[unit];
    if (typeof price === 'string') decimals[unit] = price;
  }
  return decimals;
}

function readSort(value: Members): RouteSort | undefined {
  const by = oneOf(ROUTE_SORTS, value.by);
  return by && { by, partition: oneOf(SORT_PARTITIONS, value.partition) ?? 'model' };
}

function readPriceSelectors(
  value: Members,
): Pick<RequestOptions, (typeof PRICE_SELECTORS)[number]> {
  const selectors: Partial<Record<(typeof PRICE_SELECTORS)[number], string>> = {};
  for (const name of PRICE_SELECTORS) {
    const selector = value[name];
    if (typeof selector === 'string' && selector.length <= MAX_NAME && !UNSPECIFIC.has(selector))
      selectors[name] = selector;
  }
  return selectors;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function textsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined;
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function oneOf<Name extends string>(names: readonly Name[], value: unknown): Name | undefined {
  return names.find((name) => name === value);
}
