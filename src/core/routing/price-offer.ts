import { maxPricing, maxPricedWork, type PricedWork } from '../../canonical/exact-pricing.js';
import {
  ANY_TIER,
  regionOf,
  type RequestedPrices,
  type PriceOffer,
  type RegionPricing,
  type SizePricing,
} from '../../canonical/served-prices.js';
import { isTextRequest, type RoutableRequest } from '../../canonical/work-request.js';
import type { ModelRoute } from '../catalogue/catalogue.types.js';

/**
 * Prices of a route for one request; `pricing` covers every tier at which its vendor may serve it.
 */
export interface OfferedPrices extends PricedWork {
  readonly offer?: PriceOffer;
}

/**
 * Returns the prices for a request with options that change them.
 *
 * @param region location of the account's endpoint, from its settings
 */
export function offeredPrices(
  request: RoutableRequest,
  route: ModelRoute,
  region: string | undefined,
): OfferedPrices {
  const { pricing, longPrompts, variants = {} } = route;
  const { sizes, tiers, regions } = variants;
  if (sizes && !isTextRequest(request)) {
    return { pricing: sizePricing(sizes, request.body.value, pricing) };
  }
  const home = region === undefined ? undefined : regionOf(regions, region);
  const ordinary: RegionPricing = home ?? { pricing, longPrompts, tiers };
  const others = home ? undefined : regions;
  if (!ordinary.tiers && !others) {
    return { pricing: ordinary.pricing, longPrompts: ordinary.longPrompts };
  }
  const requested = requestOptionsOf(request);
  const offer = { requested, ordinary, regions: others };
  const there =
    (requested.region === undefined ? undefined : regionOf(others, requested.region)) ?? ordinary;
  let most: PricedWork = ordinary;
  if (there !== ordinary) most = maxPricedWork(most, there);
  for (const tier of tiersToCover(there, requested)) most = maxPricedWork(most, tier);
  return { pricing: most.pricing, longPrompts: most.longPrompts, offer };
}

/**
 * Returns the tiers that may apply: the vendor may serve the ordinary tier instead, and `auto`
 * allows any.
 */
function tiersToCover({ tiers }: RegionPricing, { tier }: RequestedPrices): PricedWork[] {
  if (!tiers || tier === undefined) return [];
  if (tier === ANY_TIER) return [...tiers.values()];
  const asked = tiers.get(tier);
  return asked ? [asked] : [];
}

/** Returns the tier and region in the request's vendor fields. */
function requestOptionsOf(request: RoutableRequest): RequestedPrices {
  const { service_tier: tier, inference_geo: region }: Readonly<Record<string, unknown>> =
    request.body.value;
  return {
    tier: typeof tier === 'string' ? tier : undefined,
    region: typeof region === 'string' ? region : undefined,
  };
}

/** Values equivalent to leaving out a size or quality. */
const OPEN: ReadonlySet<unknown> = new Set([undefined, null, '', 'auto']);

/** Returns the most expensive of the best matching entries, or of all when none matches. */
function sizePricing(
  sizes: readonly SizePricing[],
  { size, quality }: Readonly<Record<string, unknown>>,
  ordinary: SizePricing['pricing'],
): SizePricing['pricing'] {
  const fits = (entry: SizePricing, isOpenFine: boolean): boolean =>
    (entry.size === undefined || isSize(entry.size, size) || (isOpenFine && OPEN.has(size))) &&
    (entry.quality === undefined || entry.quality === quality || (isOpenFine && OPEN.has(quality)));
  const exact = sizes.filter((entry) => fits(entry, false));
  const specific = exact.filter((entry) => entry.size !== undefined && entry.quality !== undefined);
  if (specific[0]) return specific[0].pricing;
  if (exact.length > 0) return dearest(exact);
  // One of two given options may be left to the vendor; an unlisted value may match any.
  const possible = sizes.filter(
    (entry) =>
      fits(entry, true) &&
      ((entry.quality !== undefined && entry.quality === quality) || isSize(entry.size, size)),
  );
  return possible.length > 0 ? dearest(possible) : maxPricing(ordinary, dearest(sizes));
}

/** `720p` matches any size whose shorter side has that many pixels. */
function isSize(name: string | undefined, size: unknown): boolean {
  if (typeof size !== 'string' || name === undefined) return false;
  if (name === size) return true;
  const [width, height] = size.split('x').map(Number);
  return width !== undefined && height !== undefined && name === `${Math.min(width, height)}p`;
}

function dearest(entries: readonly SizePricing[]): SizePricing['pricing'] {
  const [first, ...others] = entries.map((entry) => entry.pricing);
  return others.reduce((most, pricing) => maxPricing(most, pricing), first!);
}
