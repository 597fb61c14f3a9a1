/**
 * Prices as exact integers: 10^-18 USD per unit, so that `usage × price` never touches floating
 * point. A price that the catalogue leaves out is already filled in with the one that applies
 * instead (a cached token costs what a prompt token costs, and so on).
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
  /** Per code point of spoken text. */
  readonly audioCharacter: bigint;
  /** Per UTF-8 byte of spoken text. */
  readonly audioByte: bigint;
  /** Per minute of audio, produced or transcribed. */
  readonly audioMinute: bigint;
  /** Per second of produced video. */
  readonly videoSecond: bigint;
}

/** What a use costs as a whole whose prompt is longer than so many tokens, those of the cache included. */
export interface LongPromptPricing {
  readonly above: number;
  readonly pricing: ExactPricing;
}

/** The prices of a use: where its prompt is a long one, those of long prompts. */
export function pricingOf(
  { pricing, longPrompts }: PricedWork,
  { inputTokens }: { readonly inputTokens: number },
): ExactPricing {
  if (!longPrompts) return pricing;
  return longPrompts.findLast(({ above }) => inputTokens > above)?.pricing ?? pricing;
}

/** What has prices: a route of the catalogue, or one of a request. */
export interface PricedWork {
  readonly pricing: ExactPricing;
  /** From short to long, none cheaper than the one before; undefined: the length makes no difference. */
  readonly longPrompts?: readonly LongPromptPricing[] | undefined;
}

/** Of each price the higher one. */
export function dearerOf(one: ExactPricing, other: ExactPricing): ExactPricing {
  const higher = (key: keyof ExactPricing): bigint =>
    one[key] > other[key] ? one[key] : other[key];
  return mapPricing(higher);
}

/** Prices that cover both, at whatever length of the prompt. */
export function dearerWork(one: PricedWork, other: PricedWork): PricedWork {
  const pricing = dearerOf(one.pricing, other.pricing);
  const steps = [...(one.longPrompts ?? []), ...(other.longPrompts ?? [])];
  if (steps.length === 0) return { pricing };
  const lengths = [...new Set(steps.map(({ above }) => above))].sort((less, more) => less - more);
  const longPrompts = lengths.map((above) => {
    const inputTokens = above + 1;
    return {
      above,
      pricing: dearerOf(pricingOf(one, { inputTokens }), pricingOf(other, { inputTokens })),
    };
  });
  return { pricing, longPrompts };
}

/** Field by field, so that no price can be forgotten. */
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

/** What costs nothing, whatever is used. */
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

/** Reads a decimal string in USD, e.g. `0.00000015`; undefined when it is not one. */
export function parsePrice(decimal: string): bigint | undefined {
  const match = DECIMAL.exec(decimal);
  if (!match) return undefined;
  const [, whole = '0', fraction = ''] = match;
  return BigInt(whole + fraction.padEnd(PRICE_SCALE, '0'));
}

/** The decimal string of so many units of 10^-`scale`, without zeros at its end: undoes `parsePrice`. */
export function toDecimal(units: bigint, scale = PRICE_SCALE): string {
  const digits = String(units).padStart(scale + 1, '0');
  const fraction = digits.slice(-scale).replace(/0+$/, '');
  const whole = digits.slice(0, -scale);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
