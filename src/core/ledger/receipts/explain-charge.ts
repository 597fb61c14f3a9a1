import { toDecimal, type ExactPricing } from '../../../canonical/exact-pricing.js';
import type { Usage } from '../../../canonical/usage.js';
import { isAmount, priceRoute, priceUsage, totalOf } from '../pricing.js';
import type { PricesUsed, RequestLogRow } from '../../request-log/request-log-row.js';
import { PRICE_NAMES } from './price-snapshot.js';

const MS_PER_MINUTE = 60_000;

/** One part of a use at its price. */
export interface ChargeLine {
  readonly item: string;
  readonly quantity: number;
  /** The name of the price in the catalogue. */
  readonly price: string;
  /** Decimal, in USD, for `per` of the quantity. */
  readonly unit_price: string;
  readonly per: number;
  /** `quantity × unit_price / per` in credits, exact: a decimal, or one divided by 3, as `12.5/3`. */
  readonly amount: string;
}

/** How a charge came about. All figures are whole credits but the two exact ones. */
export interface ChargeArithmetic {
  readonly lines: readonly ChargeLine[];
  /** The sum of the lines, exact. */
  readonly sum: string;
  /** The sum, rounded up once: what shared capacity costs. */
  readonly rounded: number;
  /** Over the tenant's own account: the percentage of `rounded` that is charged, rounded up; else null. */
  readonly byok_fee_percent: number | null;
  /** What an estimate came to beyond what had been set aside, which nobody pays. */
  readonly beyond_hold: number;
  /** What the tenant's credits did not reach for, or is above `max_cost`, which the operator bears. */
  readonly shortfall: number;
  /** What was charged: `rounded`, or the fee of it, less the two above. */
  readonly cost: number;
}

type Billed = Pick<RequestLogRow, 'cost' | 'shortfall' | 'trafficMode' | 'usageSource' | 'outcome'>;

/** What the arithmetic does not lead to is no receipt. */
export class ReceiptMismatchError extends Error {}

/**
 * Does the arithmetic of `pricing.ts` again, line by line, and proves that it leads to what was charged.
 *
 * @param prices undefined: nothing was charged
 * @throws ReceiptMismatchError when it leads to something else
 */
export function explainCharge(
  billed: Billed,
  usage: Usage,
  prices: PricesUsed | undefined,
): ChargeArithmetic {
  const { cost, shortfall, trafficMode } = billed;
  const lines = prices ? linesOf(usage, prices.pricing) : [];
  const rounded = prices ? totalOf(priceUsage(usage, prices.pricing)) : 0;
  const due = prices ? totalOf(priceRoute(usage, { ...prices, trafficMode })) : 0;
  const beyondHold = due - shortfall - cost;
  // Of an answer that was cut short no more is taken than was set aside.
  const mayBeBeyond = billed.usageSource === 'estimated' && billed.outcome !== 'completed';
  const exact = lines.reduce((sum, line) => sum + line.exact, 0n);
  if (!isAmount(due) || beyondHold < 0 || (beyondHold > 0 && !mayBeBeyond)) {
    throw new ReceiptMismatchError(`${due} credits come of what was used, ${cost} were charged`);
  }
  return {
    lines: lines.map(({ exact: amount, ...line }) => ({ ...line, amount: toCredits(amount) })),
    sum: toCredits(exact),
    rounded,
    byok_fee_percent: prices && trafficMode === 'byok' ? (prices.byokFeePercent ?? 0) : null,
    beyond_hold: beyondHold,
    shortfall,
    cost,
  };
}

/** Price units times milliseconds per minute, so that audio is exact as well. */
type ExactLine = Omit<ChargeLine, 'amount'> & { readonly exact: bigint };

function linesOf(usage: Usage, pricing: ExactPricing): ExactLine[] {
  const quantities: [string, number, keyof ExactPricing][] = [
    ['input_tokens', usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens, 'prompt'],
    ['cache_read_tokens', usage.cacheReadTokens, 'cacheRead'],
    ['cache_write_tokens', usage.cacheWriteTokens - usage.cacheWriteLongTokens, 'cacheWrite'],
    ['cache_write_1h_tokens', usage.cacheWriteLongTokens, 'cacheWriteLong'],
    ['output_tokens', usage.outputTokens - usage.reasoningTokens, 'completion'],
    ['reasoning_tokens', usage.reasoningTokens, 'reasoning'],
    ['input_characters', usage.inputCharacters, 'audioCharacter'],
    ['input_bytes', usage.inputBytes, 'audioByte'],
    ['audio_ms', usage.audioMs, 'audioMinute'],
    ['images', usage.imageCount, 'image'],
    ['video_seconds', usage.videoSeconds, 'videoSecond'],
    ['web_searches', usage.webSearches, 'webSearch'],
    ['requests', 1, 'request'],
  ];
  return quantities.flatMap(([item, quantity, key]) => {
    const price = pricing[key];
    if (quantity === 0 || price === 0n) return [];
    const per = key === 'audioMinute' ? MS_PER_MINUTE : 1;
    const exact = (BigInt(quantity) * price * BigInt(MS_PER_MINUTE)) / BigInt(per);
    return { item, quantity, price: PRICE_NAMES[key], unit_price: toDecimal(price), per, exact };
  });
}

/** A minute has 60,000 ms, and of its factors only the 3 keeps a decimal from coming to an end. */
function toCredits(exact: bigint): string {
  const isWhole = exact % 3n === 0n;
  const thirds = isWhole ? exact / 3n : exact;
  // So many 20,000ths of 10^-12 credits: five times as many are a decimal of 17 places.
  const decimal = toDecimal(thirds * 5n, 17);
  return isWhole ? decimal : `${decimal}/3`;
}
