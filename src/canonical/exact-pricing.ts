/**
 * Prices as exact integers: 10^-18 USD per unit, so that `usage × price` never uses floating point.
 * Prices missing from the catalogue are already replaced by the applicable default (a cached token
 * costs as much as a prompt token, and so on).
 */
export interface ExactPricing {
  readonly prompt: bigint;
  readonly completion: bigint;
  readonly request: bigint;
  readonly image: bigint;
  readonly cacheRead: bigint;
  readonly cacheWrite: bigint;
  readonly cacheWriteLong: bigint;
  readonly reasoning: bigint;
  readonly webSearch: bigint;
  /** Per code point of text to be spoken. */
  readonly audioCharacter: bigint;
  /** Per UTF-8 byte of text to be spoken. */
  readonly audioByte: bigint;
  /** Per minute of audio, generated or transcribed. */
  readonly audioMinute: bigint;
  /** Per second of generated video. */
  readonly videoSecond: bigint;
}

/** Prices of a whole request whose prompt, cached tokens included, is longer than the threshold. */
export interface LongPromptPricing {
  readonly above: number;
  readonly pricing: ExactPricing;
}

/** Returns the prices that apply to a usage, with long-prompt pricing where the prompt is long. */
export function pricingOf(
  { pricing, longPrompts }: PricedWork,
  { inputTokens }: { readonly inputTokens: number },
): ExactPricing {
  if (!longPrompts) return pricing;
  return longPrompts.findLast(({ above }) => inputTokens > above)?.pricing ?? pricing;
}

/** Anything with prices: a catalogue route, or a planned one. */
export interface PricedWork {
  readonly pricing: ExactPricing;
  /** In ascending order of length, none cheaper than the one before; undefined: length makes no difference. */
  readonly longPrompts?: readonly LongPromptPricing[] | undefined;
}

/** Returns the higher of each price. */
export function maxPricing(one: ExactPricing, other: ExactPricing): ExactPricing {
  const higher = (key: keyof ExactPricing): bigint =>
    one[key] > other[key] ? one[key] : other[key];
  return mapPricing(higher);
}

/** Returns prices that cover both, at any prompt length. */
export function maxPricedWork(one: PricedWork, other: PricedWork): PricedWork {
  const pricing = maxPricing(one.pricing, other.pricing);
  const steps = [...(one.longPrompts ?? []), ...(other.longPrompts ?? [])];
  if (steps.length === 0) return { pricing };
  const lengths = [...new Set(steps.map(({ above }) => above))].sort((less, more) => less - more);
  const longPrompts = lengths.map((above) => {
    const inputTokens = above + 1;
    return {
      above,
      pricing: maxPricing(pricingOf(one, { inputTokens }), pricingOf(other, { inputTokens })),
    };
  });
  return { pricing, longPrompts };
}

/** Builds prices field by field, so that none can be forgotten. */
export function mapPricing(price: (key: keyof ExactPricing) => bigint): ExactPricing {
  return {
    prompt: price('prompt'),
    completion: price('completion'),
    request: price('request'),
    image: price('image'),
    cacheRead: price('cacheRead'),
    cacheWrite: price('cacheWrite'),
    cacheWriteLong: price('cacheWriteLong'),
    reasoning: price('reasoning'),
    webSearch: price('webSearch'),
    audioCharacter: price('audioCharacter'),
    audioByte: price('audioByte'),
    audioMinute: price('audioMinute'),
    videoSecond: price('videoSecond'),
  };
}

/** Prices of free work. */
export const FREE: ExactPricing = Object.freeze({
  prompt: 0n,
  completion: 0n,
  request: 0n,
  image: 0n,
  cacheRead: 0n,
  cacheWrite: 0n,
  cacheWriteLong: 0n,
  reasoning: 0n,
  webSearch: 0n,
  audioCharacter: 0n,
  audioByte: 0n,
  audioMinute: 0n,
  videoSecond: 0n,
});

/** Decimal places of an exact price. */
export const PRICE_SCALE = 18;

/** Exact price units in one credit: 1 credit = 10^-6 USD = 10^12 units. */
export const UNITS_PER_CREDIT = 10n ** 12n;

const DECIMAL = /^(\d{1,9})(?:\.(\d{1,18}))?$/;

/** Parses a decimal string in USD, for example `0.00000015`; undefined when it is not one. */
export function parsePrice(decimal: string): bigint | undefined {
  const match = DECIMAL.exec(decimal);
  if (!match) return undefined;
  const [, whole = '0', fraction = ''] = match;
  return BigInt(whole + fraction.padEnd(PRICE_SCALE, '0'));
}

/** Formats units of 10^-`scale` as a decimal without trailing zeros; the inverse of `parsePrice`. */
export function toDecimal(units: bigint, scale = PRICE_SCALE): string {
  const digits = String(units).padStart(scale + 1, '0');
  const fraction = digits.slice(-scale).replace(/0+$/, '');
  const whole = digits.slice(0, -scale);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
