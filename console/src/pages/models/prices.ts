import type { components } from '../../api/schema';

export type Pricing = components['schemas']['Pricing'];

interface Price {
  label: string;
  /** US dollars. */
  usd: string;
  /** The price in credits. */
  credits: string;
  unit: string;
}

const PER_MILLION = ['1M tokens', 6] as const;
/** A US dollar is 10^6 credits. */
const CREDITS_POWER = 6;

/** Label and displayed unit of each price: the unit is 10^power of the billed one. */
const SHOWN: readonly (readonly [keyof Pricing, string, readonly [unit: string, power: number]])[] =
  [
    ['prompt', 'Input', PER_MILLION],
    ['completion', 'Output', PER_MILLION],
    ['input_cache_read', 'Cached input', PER_MILLION],
    ['input_cache_write', 'Cache write', PER_MILLION],
    ['input_cache_write_1h', 'Cache write, 1 hour', PER_MILLION],
    ['internal_reasoning', 'Reasoning', PER_MILLION],
    ['request', 'Request', ['request', 0]],
    ['image', 'Image', ['image', 0]],
    ['web_search', 'Web search', ['1,000 searches', 3]],
    ['audio_character', 'Speech', ['1M characters', 6]],
    ['audio_byte', 'Speech', ['1M bytes', 6]],
    ['audio_minute', 'Audio', ['minute', 0]],
    ['video_second', 'Video', ['second', 0]],
  ];

/** Returns the non-zero prices of a model; a free model has none. */
export function pricesOf(pricing: Pricing): Price[] {
  return SHOWN.flatMap(([name, label, [unit, power]]) => {
    const price = pricing[name];
    if (price === undefined || !/[1-9]/.test(price)) return [];
    return [{ label, unit, ...amountOf(price, power) }];
  });
}

/** Returns a price per million, or undefined if it is zero. */
export function perMillion(price: string | undefined): Pick<Price, 'usd' | 'credits'> | undefined {
  return price !== undefined && /[1-9]/.test(price) ? amountOf(price, 6) : undefined;
}

function amountOf(price: string, power: number): Pick<Price, 'usd' | 'credits'> {
  return {
    usd: `$${shiftDecimal(price, power)}`,
    credits: shiftDecimal(price, power + CREDITS_POWER).replace(/\.00$/, ''),
  };
}

/** Multiplies a decimal string by a power of ten exactly, with at least two decimals. */
export function shiftDecimal(decimal: string, power: number): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  const digits = fraction.padEnd(power, '0');
  const left = `${whole}${digits.slice(0, power)}`.replace(/^0+(?=\d)/, '');
  const right = digits.slice(power).replace(/0+$/, '');
  const grouped = left.replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return `${grouped}.${right.padEnd(2, '0')}`;
}
