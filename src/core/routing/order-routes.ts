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

/** Measurements of routes; undefined without recent ones. */
export interface RouteFigures {
  speedOf(key: HealthKey): Pick<RouteSpeed, 'latencyMs' | 'tokensPerSecond'> | undefined;
  /** Median ms to the end of unstreamed answers. */
  wholeLatencyMs(key: HealthKey): number | undefined;
  /** True when a route lacks measurements and should be tried now. */
  isToBeMeasured(key: HealthKey): boolean;
}

/** Sorts routes of all models by the request's maximum price, then by latency. */
export function byPrice(
  routes: readonly PlannedRoute[],
  isStreamed: boolean,
  figures: RouteFigures,
): PlannedRoute[] {
  // The accounts of a pool keep their order: the first one's latency stands for all.
  const leadOf = (route: PlannedRoute): PlannedRoute =>
    (route.pooled && routes.find((other) => isSamePool(route, other))) ?? route;
  const latency = (route: PlannedRoute): number =>
    latencyOf(leadOf(route), isStreamed, figures) ?? Number.MAX_SAFE_INTEGER;
  return [...routes].sort(
    (one, other) => comparePrices(one, other) || latency(one) - latency(other),
  );
}

/** Returns whether two routes serve the same model over accounts of one pool. */
export function isSamePool(one: PlannedRoute, other: PlannedRoute): boolean {
  return (
    one.provider === other.provider &&
    one.model === other.model &&
    one.trafficMode === other.trafficMode
  );
}

/**
 * Returns the ms that the caller waits for: first content of a stream, or the end of a whole
 * answer.
 */
function latencyOf(
  route: PlannedRoute,
  isStreamed: boolean,
  figures: RouteFigures,
): number | undefined {
  return isStreamed ? figures.speedOf(route)?.latencyMs?.p50 : figures.wholeLatencyMs(route);
}

/**
 * Sorts routes by the caller's criterion, after those in `order`. Accounts of one provider stay
 * together and in order unless sorting by price.
 *
 * @param isStreamed selects the latency that counts
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

/** Groups the routes to one model of one provider. */
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

/** Ranks a route, lower is better. Routes to be measured come first, unknown ones last. */
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

/** Compares numbers. Infinities equal themselves, though their difference is NaN. */
function compareNumbers(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

function comparePrices(one: PlannedRoute, other: PlannedRoute): number {
  const difference = ceilingPrice(one) - ceilingPrice(other);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

/** Returns whether one route's maximum price exceeds another's. */
export function isCostlier(other: PlannedRoute, one: PlannedRoute): boolean {
  return ceilingPrice({ ...other, ceiling: one.ceiling }) > ceilingPrice(one);
}

/** Returns the request's maximum price on a route; the fee for a BYOK account. */
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
 * Removes routes above the caller's price. For BYOK accounts the fee is the price.
 *
 * @throws NotFoundError (`provider.max_price`) when no route is left
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
    `No available provider is within \`provider.max_price\`. ${cheapest ? sayPrices(cheapest, most) : ''}`,
  );
}

function isWithin(route: PlannedRoute, most: MaxPrice): boolean {
  return pricesOf(route, most).every(({ price, limit }) => limit === undefined || price <= limit);
}

function sayPrices(route: PlannedRoute, most: MaxPrice): string {
  const prices = pricesOf(route, most)
    .filter(({ price, limit }) => limit !== undefined && price > limit)
    .map(({ price, unit }) => `${toDecimal(price)} USD ${unit}`);
  return `The cheapest, ${route.model} at ${route.provider}, costs ${prices.join(' and ')}: raise the limit or choose another model.`;
}

function pricesOf(
  { pricing, byokFeePercent = WHOLE_PERCENT }: PlannedRoute,
  most: MaxPrice,
): { price: bigint; limit: bigint | undefined; unit: string }[] {
  // Rounded up, so that the price never exceeds the limit.
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
