import { pricingOf, toDecimal } from '../../canonical/exact-pricing.js';
import type {
  MaxPrice,
  RouteSort,
  RoutingPreferences,
} from '../../canonical/routing-preferences.js';
import { NotFoundError } from '../../platform/errors/gateway-errors.js';
import { noteLeftOut } from './left-out.js';
import type { LeftOutRoute, PlannedRoute } from './plan.js';
import type { RouteSpeed } from './health/speed-memory.js';
import type { HealthKey } from './route-health.js';

const MS_PER_MINUTE = 60_000n;
const MILLION = 1_000_000n;
const WHOLE_PERCENT = 100;

/** What has been measured of routes; all of it is undefined while nothing is known, or nothing recent. */
export interface RouteFigures {
  speedOf(key: HealthKey): Pick<RouteSpeed, 'latencyMs' | 'tokensPerSecond'> | undefined;
  /** Ms to the end of answers that are not streamed, the median. */
  wholeLatencyMs(key: HealthKey): number | undefined;
  /** Whether a route of which too little is known should be tried now, so that more is. */
  isToBeMeasured(key: HealthKey): boolean;
}

/** All routes together by the most that the request could cost on each, then by their latency. */
export function byPrice(
  routes: readonly PlannedRoute[],
  isStreamed: boolean,
  figures: RouteFigures,
): PlannedRoute[] {
  // The accounts of a pool keep their order: the latency of the first one stands for all.
  const leadOf = (route: PlannedRoute): PlannedRoute =>
    (route.pooled && routes.find((other) => isSamePool(route, other))) ?? route;
  const latency = (route: PlannedRoute): number =>
    latencyOf(leadOf(route), isStreamed, figures) ?? Number.MAX_SAFE_INTEGER;
  return [...routes].sort(
    (one, other) => comparePrices(one, other) || latency(one) - latency(other),
  );
}

/** Whether two routes go over accounts of one pool, to the same model. */
export function isSamePool(one: PlannedRoute, other: PlannedRoute): boolean {
  return (
    one.provider === other.provider &&
    one.model === other.model &&
    one.trafficMode === other.trafficMode
  );
}

/** In ms, what its caller waits for: the first content of a stream, or the end of a whole answer. */
function latencyOf(
  route: PlannedRoute,
  isStreamed: boolean,
  figures: RouteFigures,
): number | undefined {
  return isStreamed ? figures.speedOf(route)?.latencyMs?.p50 : figures.wholeLatencyMs(route);
}

/**
 * The routes by what the caller says counts; those of `order` stay in front. Ways over several accounts of one
 * provider stay together in their order, which is a choice of its own, unless their prices are what counts.
 *
 * @param isStreamed whether the caller is to see the answer as it comes, which decides which latency counts
 */
export function sortRoutes(
  routes: readonly PlannedRoute[],
  { by, partition }: RouteSort,
  { order }: Pick<RoutingPreferences, 'order'>,
  isStreamed: boolean,
  figures: RouteFigures,
): PlannedRoute[] {
  const models = [...new Set(routes.map(({ model }) => model))];
  const modelRank = new Map(models.map((model, index) => [model, index]));
  const rankOf = ({ provider }: PlannedRoute): number => {
    const index = order.indexOf(provider);
    return index === -1 ? order.length : index;
  };
  const bundles = by === 'price' ? routes.map((route) => [route]) : bundlesOf(routes);
  const ranked = bundles.map((bundle) => ({
    bundle,
    first: bundle[0]!,
    slowness: by === 'price' ? 0 : slownessOf(bundle, by, isStreamed, figures),
  }));
  ranked.sort((one, other) => {
    const models =
      partition === 'model'
        ? modelRank.get(one.first.model)! - modelRank.get(other.first.model)!
        : 0;
    return (
      models ||
      rankOf(one.first) - rankOf(other.first) ||
      (by === 'price'
        ? comparePrices(one.first, other.first)
        : compareNumbers(one.slowness, other.slowness))
    );
  });
  return ranked.flatMap(({ bundle }) => bundle);
}

/** The ways to one model of one provider together. */
function bundlesOf(routes: readonly PlannedRoute[]): PlannedRoute[][] {
  const bundles = new Map<string, PlannedRoute[]>();
  for (const route of routes) {
    const key = JSON.stringify([route.model, route.provider, route.upstreamModel]);
    const bundle = bundles.get(key);
    if (bundle) bundle.push(route);
    else bundles.set(key, [route]);
  }
  return [...bundles.values()];
}

/** Less is better. One that is to be measured comes first, and what is not known, nor to be, last. */
function slownessOf(
  bundle: readonly PlannedRoute[],
  by: Exclude<RouteSort['by'], 'price'>,
  isStreamed: boolean,
  figures: RouteFigures,
): number {
  for (const route of bundle) {
    const speed = by === 'throughput' ? figures.speedOf(route)?.tokensPerSecond?.p50 : undefined;
    if (speed !== undefined) return -speed;
    const latency = by === 'latency' ? latencyOf(route, isStreamed, figures) : undefined;
    if (latency !== undefined) return latency;
  }
  return bundle.some((route) => figures.isToBeMeasured(route)) ? -Infinity : Infinity;
}

/** Infinities, whose difference is no number, are equal to themselves. */
function compareNumbers(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

function comparePrices(one: PlannedRoute, other: PlannedRoute): number {
  const difference = ceilingPrice(one) - ceilingPrice(other);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

/** Whether what one route may come to at most would cost its caller more over another. */
export function isDearer(other: PlannedRoute, one: PlannedRoute): boolean {
  return ceilingPrice({ ...other, ceiling: one.ceiling }) > ceilingPrice(one);
}

/** The most that a request could cost on a route; what is charged over a tenant's own account is the fee. */
function ceilingPrice(route: PlannedRoute): bigint {
  const { ceiling, byokFeePercent = WHOLE_PERCENT } = route;
  const pricing = pricingOf(route, ceiling);
  return (
    BigInt(byokFeePercent) *
    (BigInt(ceiling.inputTokens) * pricing.prompt +
      BigInt(ceiling.outputTokens) * pricing.completion +
      BigInt(ceiling.inputCharacters) * pricing.audioCharacter +
      BigInt(ceiling.inputBytes) * pricing.audioByte +
      BigInt(ceiling.imageCount) * pricing.image +
      BigInt(ceiling.videoSeconds) * pricing.videoSecond +
      (BigInt(ceiling.audioMs) * pricing.audioMinute) / MS_PER_MINUTE +
      pricing.request)
  );
}

/**
 * Leaves out routes with a price above the caller's. Over a tenant's own account the fee is the price.
 *
 * @throws NotFoundError (`provider.max_price`) when that leaves nothing
 */
export function withoutDear(
  routes: PlannedRoute[],
  most: MaxPrice,
  leftOut?: LeftOutRoute[],
): PlannedRoute[] {
  const left = routes.filter((route) => isWithin(route, most));
  noteLeftOut(leftOut, routes, left, 'max_price');
  if (left.length > 0) return left;
  const [cheapest] = [...routes].sort(comparePrices);
  throw new NotFoundError(
    'provider.max_price',
    `No provider that is left for this request keeps to \`provider.max_price\`. ${cheapest ? sayPrices(cheapest, most) : ''}`,
  );
}

function isWithin(route: PlannedRoute, most: MaxPrice): boolean {
  return pricesOf(route, most).every(({ price, limit }) => limit === undefined || price <= limit);
}

function sayPrices(route: PlannedRoute, most: MaxPrice): string {
  const prices = pricesOf(route, most)
    .filter(({ price, limit }) => limit !== undefined && price > limit)
    .map(({ price, unit }) => `${toDecimal(price)} USD ${unit}`);
  return `The cheapest, ${route.model} at ${route.provider}, costs ${prices.join(' and ')}: allow that, or name another model.`;
}

function pricesOf(
  { pricing, byokFeePercent = WHOLE_PERCENT }: PlannedRoute,
  most: MaxPrice,
): { price: bigint; limit: bigint | undefined; unit: string }[] {
  // Rounded up, so that nothing costs more than was allowed.
  const charged = (price: bigint): bigint =>
    (price * BigInt(byokFeePercent) + BigInt(WHOLE_PERCENT - 1)) / BigInt(WHOLE_PERCENT);
  const { prompt, completion, request, image } = pricing;
  return [
    { price: charged(prompt * MILLION), limit: most.prompt, unit: 'per million input tokens' },
    {
      price: charged(completion * MILLION),
      limit: most.completion,
      unit: 'per million output tokens',
    },
    { price: charged(request), limit: most.request, unit: 'per request' },
    { price: charged(image), limit: most.image, unit: 'per image' },
  ];
}
