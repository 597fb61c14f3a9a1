import { toDecimal, type ExactPricing } from '../../../canonical/exact-pricing.js';
import type { Usage } from '../../../canonical/usage.js';
import { isAmount, priceRoute, priceUsage, totalOf } from '../pricing.js';
import type { PricesUsed, RequestLogRow } from '../../request-log/request-log-row.js';
import { PRICE_NAMES } from './price-snapshot.js';

const MS_PER_MINUTE = 60_000;

/** One part of a usage with its price. */
export interface ChargeLine {
  readonly item: string;
  readonly quantity: number;
  /** The catalogue's name of the price. */
  readonly price: string;
  /** USD per `per` units, as a decimal. */
  readonly unit_price: string;
  readonly per: number;
  /** `quantity × unit_price / per` in credits, exact: a decimal, or one divided by 3 such as `12.5/3`. */
  readonly amount: string;
}

/** The computation of a charge. All figures are whole credits except `amount` and `sum`. */
export interface ChargeArithmetic {
  readonly lines: readonly ChargeLine[];
  /** The exact sum of the lines. */
  readonly sum: string;
  /** The sum rounded up once: the cost on shared capacity. */
  readonly rounded: number;
  /** On BYOK traffic, the percentage of `rounded` that is charged, rounded up; else null. */
  readonly byok_fee_percent: number | null;
  /** The part of an estimate above the hold, which is not charged. */
  readonly beyond_hold: number;
  /** The part above the available credits or `max_cost`, which the operator writes off. */
  readonly shortfall: number;
  /** The charge: `rounded`, or its fee, less the two above. */
  readonly cost: number;
}

type Billed = Pick<RequestLogRow, 'cost' | 'shortfall' | 'trafficMode' | 'usageSource' | 'outcome'>;

/** Thrown when the computation does not produce the charge. */
export class ReceiptMismatchError extends Error {}

/**
 * Repeats the arithmetic of `pricing.ts` line by line and verifies that it produces the charge.
 *
 * @param prices undefined when nothing was charged
 * @throws ReceiptMismatchError when it does not
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
  // An incomplete answer costs at most its hold.
  const mayBeBeyond = billed.usageSource === 'estimated' && billed.outcome !== 'completed';
  const exact = lines.reduce((sum, line) => sum + line.exact, 0n);
  if (!isAmount(due) || beyondHold < 0 || (beyondHold > 0 && !mayBeBeyond)) {
    throw new ReceiptMismatchError(`computed ${due} credits, but charged ${cost}`);
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

/** In price units times milliseconds per minute, so that audio is exact. */
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

/** Converts to credits. 60,000 (ms per minute) has the factor 3, which can prevent a finite decimal. */
function toCredits(exact: bigint): string {
  const isWhole = exact % 3n === 0n;
  const thirds = isWhole ? exact / 3n : exact;
  // Units are 20,000ths of 10^-12 credits; times five they are decimals with 17 places.
  const decimal = toDecimal(thirds * 5n, 17);
  return isWhole ? decimal : `${decimal}/3`;
}
