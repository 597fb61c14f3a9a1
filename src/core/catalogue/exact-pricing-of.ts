import {
  parsePrice,
  type ExactPricing,
  type LongPromptPricing,
  type PricedWork,
} from '../../canonical/exact-pricing.js';
import type { CatalogueModel, ModelKind, Pricing, Route } from './catalogue.types.js';

/** The prices that a model of each kind cannot do without; one of several sets is enough. */
const COMPLETE: Record<ModelKind, readonly (readonly (keyof Pricing)[])[]> = {
  chat: [['prompt', 'completion']],
  embedding: [['prompt']],
  speech: [['audio_character'], ['audio_byte'], ['prompt', 'completion']],
  transcription: [['audio_minute'], ['prompt', 'completion']],
  image: [['image'], ['prompt', 'completion']],
  video: [['video_second']],
};

/** Whether prices say what every unit of such a model costs; a price of `"0"` is a price. */
export function isCompletePricing(kind: ModelKind, pricing: Partial<Pricing>): boolean {
  return COMPLETE[kind].some((keys) => keys.every((key) => pricing[key] !== undefined));
}

/** Prices as exact integers; a special price that is left out is that of the ordinary unit. */
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

/**
 * The prices of a route of a model, by the length of prompts too. A longer prompt never costs less than a
 * shorter one, whatever prices were changed: what is set aside for the longest that a request can have
 * covers all others.
 */
export function exactPricesOf(
  model: Pick<CatalogueModel, 'pricing' | 'long_prompts'>,
  route: Pick<Route, 'pricing' | 'long_prompts'>,
): PricedWork {
  const prices = { ...model.pricing, ...route.pricing };
  const pricing = exactPricingOf(prices);
  const steps = route.long_prompts ?? model.long_prompts;
  if (!steps) return { pricing };
  const longPrompts: LongPromptPricing[] = [];
  let shorter = pricing;
  for (const step of [...steps].sort((one, other) => one.above - other.above)) {
    shorter = dearerOf(shorter, exactPricingOf({ ...prices, ...step.pricing }));
    longPrompts.push({ above: step.above, pricing: shorter });
  }
  return { pricing, longPrompts };
}

/** A route at an account's own prices, below which a longer prompt does not cost there either. */
export function pricedAt<Route extends PricedWork>(route: Route, pricing: ExactPricing): Route {
  const longPrompts = route.longPrompts?.map((longer) => ({
    above: longer.above,
    pricing: dearerOf(pricing, longer.pricing),
  }));
  return { ...route, pricing, longPrompts };
}

/** Of each price the higher one. */
function dearerOf(one: ExactPricing, other: ExactPricing): ExactPricing {
  const higher = (key: keyof ExactPricing): bigint =>
    one[key] > other[key] ? one[key] : other[key];
  return {
    prompt: higher('prompt'),
    completion: higher('completion'),
    request: higher('request'),
    image: higher('image'),
    cacheRead: higher('cacheRead'),
    cacheWrite: higher('cacheWrite'),
    cacheWriteLong: higher('cacheWriteLong'),
    reasoning: higher('reasoning'),
    webSearch: higher('webSearch'),
    audioCharacter: higher('audioCharacter'),
    audioByte: higher('audioByte'),
    audioMinute: higher('audioMinute'),
    videoSecond: higher('videoSecond'),
  };
}
