import { UNITS_PER_CREDIT, type ExactPricing } from '../canonical/exact-pricing.js';
import type { Usage } from '../canonical/usage.js';
import type { Charge } from './ledger-operations.js';

const MS_PER_MINUTE = 60_000n;

/**
 * What a use of a model costs: `ceil(Σ usage × price)` in credits, rounded once over the whole
 * sum. Vendor-run tools are shown apart as the managed tool fee, rounded so that the parts add up
 * to the whole. Audio is priced by the minute and counted in milliseconds, so the sum is carried in
 * sixty-thousandths until its one rounding. Pure and exact: the only arithmetic on money besides addition.
 */
export function priceUsage(usage: Usage, pricing: ExactPricing): Charge {
  const plainInput = usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens;
  const shortWrites = usage.cacheWriteTokens - usage.cacheWriteLongTokens;
  const plainOutput = usage.outputTokens - usage.reasoningTokens;
  const model =
    BigInt(plainInput) * pricing.prompt +
    BigInt(usage.cacheReadTokens) * pricing.cacheRead +
    BigInt(shortWrites) * pricing.cacheWrite +
    BigInt(usage.cacheWriteLongTokens) * pricing.cacheWriteLong +
    BigInt(plainOutput) * pricing.completion +
    BigInt(usage.reasoningTokens) * pricing.reasoning +
    BigInt(usage.inputCharacters) * pricing.audioCharacter +
    BigInt(usage.inputBytes) * pricing.audioByte +
    BigInt(usage.imageCount) * pricing.image +
    BigInt(usage.videoSeconds) * pricing.videoSecond +
    pricing.request;
  const audio = BigInt(usage.audioMs) * pricing.audioMinute;
  const tools = BigInt(usage.webSearches) * pricing.webSearch;
  const total = ceilCredits(model + tools, audio);
  const modelCharge = Math.min(ceilCredits(model, audio), total);
  return { modelCharge, byokPlatformFee: 0, managedToolFee: total - modelCharge };
}

/** Credits of a charge as a whole. */
export function totalOf(charge: Charge): number {
  return charge.modelCharge + charge.byokPlatformFee + charge.managedToolFee;
}

/** @param audio price units times milliseconds, per minute */
function ceilCredits(units: bigint, audio: bigint): number {
  if (audio === 0n) return Number((units + UNITS_PER_CREDIT - 1n) / UNITS_PER_CREDIT);
  const divisor = UNITS_PER_CREDIT * MS_PER_MINUTE;
  return Number((units * MS_PER_MINUTE + audio + divisor - 1n) / divisor);
}
