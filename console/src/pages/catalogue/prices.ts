/** Label and displayed unit of each price. */
export const PRICES = {
  prompt: { label: 'Input', per: 1_000_000, unit: 'per 1M tokens' },
  completion: { label: 'Output', per: 1_000_000, unit: 'per 1M tokens' },
  input_cache_read: { label: 'Cached input', per: 1_000_000, unit: 'per 1M tokens' },
  input_cache_write: { label: 'Cache write', per: 1_000_000, unit: 'per 1M tokens' },
  input_cache_write_1h: {
    label: 'Cache write, 1 hour',
    per: 1_000_000,
    unit: 'per 1M tokens',
  },
  internal_reasoning: { label: 'Reasoning', per: 1_000_000, unit: 'per 1M tokens' },
  request: { label: 'Request', per: 1, unit: 'each' },
  image: { label: 'Image', per: 1, unit: 'each' },
  web_search: { label: 'Web search', per: 1, unit: 'each' },
  audio_minute: { label: 'Audio', per: 1, unit: 'per minute' },
  audio_character: { label: 'Speech', per: 1_000_000, unit: 'per 1M characters' },
  audio_byte: { label: 'Speech', per: 1_000_000, unit: 'per 1M bytes' },
  video_second: { label: 'Video', per: 1, unit: 'per second' },
} as const;

export type PriceName = keyof typeof PRICES;

/** A price in the catalogue's format: a decimal number in USD without sign or exponent. */
export const PRICE_PATTERN = '\\d{1,9}(\\.\\d{1,18})?';

export function isPrice(text: string): boolean {
  return new RegExp(`^(?:${PRICE_PATTERN})$`).test(text);
}

export function isPriceName(name: string): name is PriceName {
  return name in PRICES;
}

/** Formats a price in USD per unit: `$2.50 per 1M tokens`. */
export function formatPriceWithUnit(name: PriceName, price: string | undefined): string {
  const usd = priceOf(name, price);
  return usd === '–' ? usd : `${usd} ${PRICES[name].unit}`;
}

/** Formats a price without its unit. */
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
