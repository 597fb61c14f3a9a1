import { UNITS_PER_CREDIT, type ExactPricing } from '../canonical/exact-pricing.js';
import type { Usage } from '../canonical/usage.js';
import type { Charge } from './ledger-operations.js';

/**
 * What a use of a model costs: `ceil(Σ usage × price)` in credits, rounded once over the whole
 * sum. Vendor-run tools are shown apart as the managed tool fee, rounded so that the parts add up
 * to the whole. Pure and exact: the only arithmetic on money besides addition.
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
    pricing.request;
  const tools = BigInt(usage.webSearches) * pricing.webSearch;
  const total = ceilCredits(model + tools);
  const modelCharge = Math.min(ceilCredits(model), total);
  return { modelCharge, byokPlatformFee: 0, managedToolFee: total - modelCharge };
}

/** Credits of a charge as a whole. */
export function totalOf(charge: Charge): number {
  return charge.modelCharge + charge.byokPlatformFee + charge.managedToolFee;
}

function ceilCredits(units: bigint): number {
  return Number((units + UNITS_PER_CREDIT - 1n) / UNITS_PER_CREDIT);
}
