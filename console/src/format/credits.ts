/** Credits per US dollar. */
const CREDITS_PER_USD = 1_000_000;

const COUNT = new Intl.NumberFormat('en-US');
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const USD = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const SMALL_USD = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 3,
});

/** Formats an integer with thousands separators: `1,234,567`. */
export function formatCount(count: number): string {
  return COUNT.format(count);
}

/** Formats an exact decimal with thousands separators: `1,234.000567`. */
export function formatExact(amount: string): string {
  const [, sign = '', whole, fraction = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(amount) ?? [];
  return whole === undefined ? amount : sign + COUNT.format(BigInt(whole)) + fraction;
}

/** Formats a number compactly for axes: `1.2M`. */
export function formatCompact(count: number): string {
  return COMPACT.format(count);
}

/** Formats credits as US dollars: to the cent, or to three significant digits below one cent. */
export function formatUsd(credits: number): string {
  const usd = credits / CREDITS_PER_USD;
  return usd !== 0 && Math.abs(usd) < 0.01 ? SMALL_USD.format(usd) : USD.format(usd);
}

/** Formats a fraction as a percentage: 0.021 is `2.1 %`. */
export function formatShare(share: number): string {
  return `${(share * 100).toLocaleString('en-US', { maximumFractionDigits: share < 0.1 ? 2 : 1 })} %`;
}
