import type { ExactPricing, PricedWork } from './exact-pricing.js';
import type { Usage } from './usage.js';

/** Prices in one region, with those of its service tiers. */
export interface RegionPricing extends PricedWork {
  readonly tiers?: ReadonlyMap<string, PricedWork> | undefined;
}

/** Prices of pictures or video; a size or quality that is left out is any. */
export interface SizePricing {
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly pricing: ExactPricing;
}

/** Prices of a route beside its ordinary ones. */
export interface PriceVariants {
  /** By the vendor's names of service tiers. */
  readonly tiers?: ReadonlyMap<string, PricedWork> | undefined;
  /** By the names of regions, or what those begin with. */
  readonly regions?: ReadonlyMap<string, RegionPricing> | undefined;
  readonly sizes?: readonly SizePricing[] | undefined;
}

/** What of a row's prices a request asks for by name; what is undefined is not asked for. */
export interface AskedPrices {
  readonly tier?: string | undefined;
  readonly region?: string | undefined;
}

/** Prices of a planned route among which the vendor's answer chooses. */
export interface PriceOffer {
  /** What is charged where the vendor does not say how it served. */
  readonly asked: AskedPrices;
  readonly ordinary: RegionPricing;
  readonly regions?: ReadonlyMap<string, RegionPricing> | undefined;
}

/** Leaves the choice to the vendor, by what its account is set to. */
export const ANY_TIER = 'auto';

/** Vendors' names of the ordinary tier; `auto` is none, as it leaves open which one it was. */
const ORDINARY: ReadonlySet<string> = new Set(['default', 'standard', 'global']);

/** How a use was served. */
type Served = Pick<Usage, 'servedTier' | 'servedRegion'>;

/**
 * A route with the prices of a use: by the tier and region that the vendor says, as far as they have prices, else by
 * those that were asked for. `servedAs` names them (`flex`, `us`, `flex us`); undefined: they are the ordinary ones.
 */
export function asServed<Route extends PricedWork & { readonly offer?: PriceOffer | undefined }>(
  route: Route,
  { servedTier, servedRegion }: Served,
): Route & { readonly servedAs?: string | undefined } {
  const { offer } = route;
  if (!offer) return route;
  const { asked, ordinary, regions } = offer;
  const region = nameOf(servedRegion, asked.region, (name) => regionOf(regions, name));
  const place = (region === undefined ? undefined : regionOf(regions, region)) ?? ordinary;
  const tier = nameOf(servedTier, asked.tier, (name) => place.tiers?.get(name));
  const { pricing, longPrompts } = place.tiers?.get(tier ?? '') ?? place;
  const servedAs = [tier, region].filter((name) => name !== undefined).join(' ');
  return { ...route, pricing, longPrompts, servedAs: servedAs === '' ? undefined : servedAs };
}

/**
 * Whether a use is charged by prices that its request has not asked for, so that what was set aside may not cover it.
 *
 * @param served the route as `asServed` has it
 */
export function isUnasked({
  offer,
  servedAs,
}: {
  readonly offer?: PriceOffer | undefined;
  readonly servedAs?: string | undefined;
}): boolean {
  if (!offer || servedAs === undefined || offer.asked.tier === ANY_TIER) return false;
  const { tier, region } = offer.asked;
  return servedAs.split(' ').some((name) => name !== tier && name !== region);
}

/** A name that has prices: the vendor's, else the caller's; undefined: the ordinary prices hold. */
function nameOf(
  served: string | undefined,
  asked: string | undefined,
  find: (name: string) => unknown,
): string | undefined {
  if (served !== undefined && ORDINARY.has(served)) return undefined;
  const names = [served, OTHER_NAMES.get(served), asked, OTHER_NAMES.get(asked)];
  return names.find((name) => name !== undefined && find(name) !== undefined);
}

/** A tier that its vendor has given another name, and answers with either. */
const OTHER_NAMES: ReadonlyMap<string | undefined, string> = new Map([
  ['fast', 'priority'],
  ['priority', 'fast'],
]);

/** The prices of a region by its name, or by the longest name of a family that it belongs to. */
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
