/** What each price is of, and how many of these are shown together. */
export const PRICES = {
  prompt: { label: 'Input', per: 1_000_000, unit: 'per 1M tokens' },
  completion: { label: 'Output', per: 1_000_000, unit: 'per 1M tokens' },
  input_cache_read: { label: 'Cached input', per: 1_000_000, unit: 'per 1M tokens' },
  input_cache_write: { label: 'Written to the cache', per: 1_000_000, unit: 'per 1M tokens' },
  input_cache_write_1h: {
    label: 'Written for an hour',
    per: 1_000_000,
    unit: 'per 1M tokens',
  },
  internal_reasoning: { label: 'Reasoning', per: 1_000_000, unit: 'per 1M tokens' },
  request: { label: 'Request', per: 1, unit: 'each' },
  image: { label: 'Image', per: 1, unit: 'each' },
  web_search: { label: 'Web search', per: 1, unit: 'each' },
  audio_minute: { label: 'Audio', per: 1, unit: 'a minute' },
  audio_character: { label: 'Speech', per: 1_000_000, unit: 'per 1M characters' },
  audio_byte: { label: 'Speech', per: 1_000_000, unit: 'per 1M bytes' },
  video_second: { label: 'Video', per: 1, unit: 'a second' },
} as const;

export type PriceName = keyof typeof PRICES;

/** As the catalogue takes a price: a decimal number of USD, without sign or exponent. */
export const PRICE_PATTERN = '\\d{1,9}(\\.\\d{1,18})?';

export function isPrice(text: string): boolean {
  return new RegExp(`^(?:${PRICE_PATTERN})$`).test(text);
}

export function isPriceName(name: string): name is PriceName {
  return name in PRICES;
}

/** A price as the catalogue has it, in USD of one, as `$2.50 per 1M tokens`. */
export function tellPrice(name: PriceName, price: string | undefined): string {
  const usd = priceOf(name, price);
  return usd === '–' ? usd : `${usd} ${PRICES[name].unit}`;
}

/** The same without what it is of. */
export function priceOf(name: PriceName, price: string | undefined): string {
  if (price === undefined || !isPrice(price)) return '–';
  const { per } = PRICES[name];
  const usd = Number(price) * per;
  const digits = usd.toLocaleString('en-US', {
    minimumFractionDigits: 2,
    maximumFractionDigits: 6,
  });
  return `$${digits}`;
}
