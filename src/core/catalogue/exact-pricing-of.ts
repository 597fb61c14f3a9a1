import {
  maxPricing,
  mapPricing,
  parsePrice,
  type ExactPricing,
  type LongPromptPricing,
  type PricedWork,
} from '../../canonical/exact-pricing.js';
import type { PriceVariants, RegionPricing } from '../../canonical/served-prices.js';
import type {
  LongPromptPrices,
  ModelKind,
  PriceTiers,
  Pricing,
  VariantPrices,
} from './catalogue.types.js';

/** Required prices by kind; one of several sets is enough. */
const COMPLETE: Record<ModelKind, readonly (readonly (keyof Pricing)[])[]> = {
  chat: [['prompt', 'completion']],
  embedding: [['prompt']],
  speech: [['audio_character'], ['audio_byte'], ['prompt', 'completion']],
  transcription: [['audio_minute'], ['prompt', 'completion']],
  image: [['image'], ['prompt', 'completion']],
  video: [['video_second']],
};

/** Returns whether the prices cover every unit of the kind; `"0"` is a price. */
export function isCompletePricing(kind: ModelKind, pricing: Partial<Pricing>): boolean {
  return COMPLETE[kind].some((keys) => keys.every((key) => pricing[key] !== undefined));
}

/** Converts prices to exact integers; a missing special price equals the ordinary one. */
export function exactPricingOf(pricing: Partial<Pricing>): ExactPricing {
  const read = (key: keyof Pricing, fallback = 0n): bigint => {
    const decimal = pricing[key];
    return decimal === undefined ? fallback : (parsePrice(decimal) ?? fallback);
  };
  const prompt = read('prompt');
  const completion = read('completion');
  const cacheWrite = read('input_cache_write', prompt);
  return {
    prompt,
    completion,
    request: read('request'),
    image: read('image'),
    cacheRead: read('input_cache_read', prompt),
    cacheWrite,
    cacheWriteLong: read('input_cache_write_1h', cacheWrite),
    reasoning: read('internal_reasoning', completion),
    webSearch: read('web_search'),
    audioCharacter: read('audio_character'),
    audioByte: read('audio_byte'),
    audioMinute: read('audio_minute'),
    videoSecond: read('video_second'),
  };
}

type Priced = PriceTiers & { readonly pricing?: Partial<Pricing> };

/**
 * Returns the prices of a model's route. A longer prompt never costs less than a shorter one,
 * whichever prices were changed, so that reserving for the longest covers all.
 *
 * @param isOwn whether the route leads to the vendor of the model's tiers and regions
 */
export function exactPricesOf(
  model: Priced,
  route: Priced,
  isOwn = true,
): PricedWork & { variants?: PriceVariants } {
  const prices = { ...model.pricing, ...route.pricing };
  const steps = route.long_prompts ?? model.long_prompts;
  const ordinary = workOf(prices, steps);
  const vendors: PriceTiers = isOwn ? model : {};
  const tiers = tiersOf(prices, steps, route.service_tiers ?? vendors.service_tiers);
  const regions = regionsOf(prices, steps, route.regions ?? vendors.regions, ordinary, tiers);
  const sizes = (route.sizes ?? model.sizes)?.map(({ pricing, ...size }) => ({
    ...size,
    pricing: exactPricingOf({ ...prices, ...pricing }),
  }));
  if (!tiers && !regions && !sizes) return ordinary;
  return { ...ordinary, variants: { tiers, regions, sizes } };
}

function workOf(
  prices: Partial<Pricing>,
  steps: readonly LongPromptPrices[] | undefined,
): PricedWork {
  const pricing = exactPricingOf(prices);
  if (!steps) return { pricing };
  const longPrompts: LongPromptPricing[] = [];
  let shorter = pricing;
  for (const step of [...steps].sort((one, other) => one.above - other.above)) {
    shorter = maxPricing(shorter, exactPricingOf({ ...prices, ...step.pricing }));
    longPrompts.push({ above: step.above, pricing: shorter });
  }
  return { pricing, longPrompts };
}

/** Shown to callers, but the gateway sends no batches. */
const SHOWN_ONLY = 'batch';

function tiersOf(
  prices: Partial<Pricing>,
  steps: readonly LongPromptPrices[] | undefined,
  tiers: Readonly<Record<string, VariantPrices>> = {},
): ReadonlyMap<string, PricedWork> | undefined {
  const named = Object.entries(tiers).filter(([name]) => name !== SHOWN_ONLY);
  if (named.length === 0) return undefined;
  return new Map(
    named.map(([name, { pricing, long_prompts: own }]) => [
      name,
      workOf({ ...prices, ...pricing }, own ?? steps),
    ]),
  );
}

/** Prices a region's missing units at the same ratio as its given ones. */
function regionsOf(
  prices: Partial<Pricing>,
  steps: readonly LongPromptPrices[] | undefined,
  regions: Readonly<Record<string, VariantPrices>> | undefined,
  ordinary: PricedWork,
  tiers: ReadonlyMap<string, PricedWork> | undefined,
): ReadonlyMap<string, RegionPricing> | undefined {
  if (!regions) return undefined;
  return new Map(
    Object.entries(regions).map(([name, { pricing: named, long_prompts: own }]) => {
      const there = workOf({ ...prices, ...named }, own);
      const moved = (work: PricedWork): PricedWork => ({
        pricing: inRegion(work.pricing, ordinary.pricing, there.pricing),
        longPrompts: work.longPrompts?.map(({ above, pricing }) => ({
          above,
          pricing: inRegion(pricing, ordinary.pricing, there.pricing),
        })),
      });
      const { longPrompts } = own || !steps ? there : moved(ordinary);
      const movedTiers =
        tiers && new Map([...tiers].map(([tier, work]) => [tier, moved(work)] as const));
      return [name, { pricing: there.pricing, longPrompts, tiers: movedTiers }];
    }),
  );
}

/** Rounds up, to never sell below cost. */
function inRegion(price: ExactPricing, ordinary: ExactPricing, there: ExactPricing): ExactPricing {
  return mapPricing((key) => {
    if (ordinary[key] === 0n) return price[key] > there[key] ? price[key] : there[key];
    return (price[key] * there[key] + ordinary[key] - 1n) / ordinary[key];
  });
}

/**
 * Returns a route at an account's own prices, which are the minimum for long prompts and large
 * images.
 */
export function pricedAt<Route extends PricedWork & { readonly variants?: PriceVariants }>(
  route: Route,
  pricing: ExactPricing,
): Route {
  const atLeast = <Priced extends { readonly pricing: ExactPricing }>(priced: Priced): Priced => ({
    ...priced,
    pricing: maxPricing(pricing, priced.pricing),
  });
  const longPrompts = route.longPrompts?.map(atLeast);
  const { variants } = route;
  if (!variants) return { ...route, pricing, longPrompts };
  const sizes = variants.sizes?.map(atLeast);
  return { ...route, pricing, longPrompts, variants: { ...variants, sizes } };
}
