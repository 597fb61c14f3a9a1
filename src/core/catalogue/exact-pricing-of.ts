import { parsePrice, type ExactPricing } from '../../canonical/exact-pricing.js';
import type { ModelKind, Pricing } from './catalogue.types.js';

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
