import type { ExactPricing, PricedWork } from './exact-pricing.js';
import type { Usage } from './usage.js';

/** Prices in one region, including its service tiers. */
export interface RegionPricing extends PricedWork {
  readonly tiers?: ReadonlyMap<string, PricedWork> | undefined;
}

/** Prices of images or video; an omitted size or quality matches any. */
export interface SizePricing {
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly pricing: ExactPricing;
}

/** Alternatives to a route's standard prices. */
export interface PriceVariants {
  /** Keyed by the vendor's service tier names. */
  readonly tiers?: ReadonlyMap<string, PricedWork> | undefined;
  /** Keyed by region name or prefix. */
  readonly regions?: ReadonlyMap<string, RegionPricing> | undefined;
  readonly sizes?: readonly SizePricing[] | undefined;
}

/** Price variants that a request selects by name; undefined: not selected. */
export interface RequestedPrices {
  readonly tier?: string | undefined;
  readonly region?: string | undefined;
}

/** Prices of a planned route that the vendor's answer selects from. */
export interface PriceOffer {
  /** Charged when the vendor does not report how it served the request. */
  readonly requested: RequestedPrices;
  readonly ordinary: RegionPricing;
  readonly regions?: ReadonlyMap<string, RegionPricing> | undefined;
}

/** Lets the vendor choose, according to its account settings. */
export const ANY_TIER = 'auto';

/** Vendors' names for the standard tier. Excludes `auto`, which leaves the actual tier open. */
const ORDINARY: ReadonlySet<string> = new Set(['default', 'standard', 'global']);

/** How a request was served. */
type Served = Pick<Usage, 'servedTier' | 'servedRegion'>;

/**
 * Returns a route with the prices of the tier and region that the vendor reported, if priced, else of
 * those requested. `servedAs` names them (`flex`, `us`, `flex us`); undefined means the standard prices.
 */
export function asServed<Route extends PricedWork & { readonly offer?: PriceOffer | undefined }>(
  route: Route,
  { servedTier, servedRegion }: Served,
): Route & { readonly servedAs?: string | undefined } {
  const { offer } = route;
  if (!offer) return route;
  const { requested: asked, ordinary, regions } = offer;
  const region = nameOf(servedRegion, asked.region, (name) => regionOf(regions, name));
  const place = (region === undefined ? undefined : regionOf(regions, region)) ?? ordinary;
  const tier = nameOf(servedTier, asked.tier, (name) => place.tiers?.get(name));
  const { pricing, longPrompts } = place.tiers?.get(tier ?? '') ?? place;
  const servedAs = [tier, region].filter((name) => name !== undefined).join(' ');
  return { ...route, pricing, longPrompts, servedAs: servedAs === '' ? undefined : servedAs };
}

/**
 * Returns whether a usage is charged at prices that its request did not select, which the hold may not
 * cover.
 *
 * @param served the route as returned by `asServed`
 */
export function isUnrequested({
  offer,
  servedAs,
}: {
  readonly offer?: PriceOffer | undefined;
  readonly servedAs?: string | undefined;
}): boolean {
  if (!offer || servedAs === undefined || offer.requested.tier === ANY_TIER) return false;
  const { tier, region } = offer.requested;
  return servedAs.split(' ').some((name) => name !== tier && name !== region);
}

/** Returns a name that has prices: the vendor's, else the caller's; undefined: standard prices apply. */
function nameOf(
  served: string | undefined,
  requested: string | undefined,
  find: (name: string) => unknown,
): string | undefined {
  if (served !== undefined && ORDINARY.has(served)) return undefined;
  const names = [served, OTHER_NAMES.get(served), requested, OTHER_NAMES.get(requested)];
  return names.find((name) => name !== undefined && find(name) !== undefined);
}

/** Tiers that the vendor renamed; its answers use either name. */
const OTHER_NAMES: ReadonlyMap<string | undefined, string> = new Map([
  ['fast', 'priority'],
  ['priority', 'fast'],
]);

/** Returns the prices of a region by name, or by its longest matching prefix. */
export function regionOf<Prices>(
  regions: ReadonlyMap<string, Prices> | undefined,
  name: string,
): Prices | undefined {
  if (!regions) return undefined;
  const parts = name.split('-');
  for (let count = parts.length; count > 0; count--) {
    const found = regions.get(parts.slice(0, count).join('-'));
    if (found) return found;
  }
  return undefined;
}
