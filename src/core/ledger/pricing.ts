import {
  pricingOf,
  UNITS_PER_CREDIT,
  type ExactPricing,
  type PricedWork,
} from '../../canonical/exact-pricing.js';
import type { Usage } from '../../canonical/usage.js';
import type { Charge } from './ledger-operations.js';
import type { BillableRoute } from '../../canonical/billable-route.js';

const MS_PER_MINUTE = 60_000n;

export const NO_CHARGE: Charge = Object.freeze({
  modelCharge: 0,
  byokPlatformFee: 0,
  managedToolFee: 0,
});

/**
 * What a use of a model costs: `ceil(Σ usage × price)` in credits, rounded once over the whole
 * sum. Vendor-run tools are shown apart as the managed tool fee, rounded so that the parts add up
 * to the whole. Audio is priced by the minute and counted in milliseconds, so the sum is carried in
 * sixty-thousandths until its one rounding. Pure and exact: the only arithmetic on money besides addition.
 */
export function priceUsage(usage: Usage, pricing: ExactPricing): Charge {
  const tools = times(usage.webSearches, pricing.webSearch);
  const model = modelUnits(usage, pricing);
  const audio = times(usage.audioMs, pricing.audioMinute);
  const total = ceilCredits(model + tools, audio);
  const modelCharge = Math.min(ceilCredits(model, audio), total);
  return { modelCharge, byokPlatformFee: 0, managedToolFee: total - modelCharge };
}

/** Price units of a use, without audio and the vendor's tools. */
function modelUnits(usage: Usage, pricing: ExactPricing): bigint {
  const plainInput = usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens;
  const shortWrites = usage.cacheWriteTokens - usage.cacheWriteLongTokens;
  const plainOutput = usage.outputTokens - usage.reasoningTokens;
  return (
    times(plainInput, pricing.prompt) +
    times(usage.cacheReadTokens, pricing.cacheRead) +
    times(shortWrites, pricing.cacheWrite) +
    times(usage.cacheWriteLongTokens, pricing.cacheWriteLong) +
    times(plainOutput, pricing.completion) +
    times(usage.reasoningTokens, pricing.reasoning) +
    times(usage.inputCharacters, pricing.audioCharacter) +
    times(usage.inputBytes, pricing.audioByte) +
    times(usage.imageCount, pricing.image) +
    times(usage.videoSeconds, pricing.videoSecond) +
    pricing.request
  );
}

/**
 * What a use of a route costs. Over the tenant's own account the vendor bills the tenant, for its
 * tools too, and what is charged here is a fee: `ceil(cost × percent / 100)`, where the cost is what
 * shared capacity would have been charged, in whole credits.
 */
export function priceRoute(usage: Usage, billedBy: BilledBy): Charge {
  const { trafficMode, byokFeePercent = 0 } = billedBy;
  const charge = priceUsage(usage, pricingOf(billedBy, usage));
  if (trafficMode === 'shared') return charge;
  const fee = (BigInt(totalOf(charge)) * BigInt(byokFeePercent) + 99n) / 100n;
  return { modelCharge: 0, byokPlatformFee: Number(fee), managedToolFee: 0 };
}

/**
 * How many output tokens so many credits pay for on a route, beside the rest of a use of text; below
 * zero when they do not pay for the rest. At the dearer of the prices for answers and for reasoning.
 */
export function outputWithin(credits: number, usage: Usage, billedBy: BilledBy): number {
  const { trafficMode, byokFeePercent = 0 } = billedBy;
  const pricing = pricingOf(billedBy, usage);
  const perToken = pricing.reasoning > pricing.completion ? pricing.reasoning : pricing.completion;
  const isFree = perToken === 0n || (trafficMode === 'byok' && byokFeePercent === 0);
  if (isFree) return totalOf(priceRoute(usage, billedBy)) > credits ? -1 : Infinity;
  const paid =
    trafficMode === 'shared' ? BigInt(credits) : (BigInt(credits) * 100n) / BigInt(byokFeePercent);
  const rest = modelUnits(usage, pricing) + times(usage.webSearches, pricing.webSearch);
  const left = paid * UNITS_PER_CREDIT - rest;
  return left < 0n ? -1 : Number(left / perToken);
}

type BilledBy = PricedWork & Pick<BillableRoute, 'trafficMode' | 'byokFeePercent'>;

/** Credits of a charge as a whole. */
export function totalOf(charge: Charge): number {
  return charge.modelCharge + charge.byokPlatformFee + charge.managedToolFee;
}

/** Most counts of a use are 0, which need no arithmetic. */
function times(count: number, price: bigint): bigint {
  return count === 0 ? 0n : BigInt(count) * price;
}

/** @param audio price units times milliseconds, per minute */
function ceilCredits(units: bigint, audio: bigint): number {
  if (audio === 0n) return Number((units + UNITS_PER_CREDIT - 1n) / UNITS_PER_CREDIT);
  const divisor = UNITS_PER_CREDIT * MS_PER_MINUTE;
  return Number((units * MS_PER_MINUTE + audio + divisor - 1n) / divisor);
}

/** A charge after the tenant's purse had its say. */
export interface PayableCharge {
  /** The parts that the tenant pays; their sum is `cost`. */
  charge: Charge;
  cost: number;
  /** What the tenant could not pay, or is not to; `cost + shortfall` is the whole charge. */
  shortfall: number;
}

/**
 * Splits a charge into what the tenant pays out of `available` credits and what is missing. The
 * model's part gives way first, so that fees stay whole as long as there is anything to pay with.
 */
export function splitCharge(charge: Charge, available: number): PayableCharge {
  const total = totalOf(charge);
  const cost = Math.min(total, Math.max(0, available));
  const shortfall = total - cost;
  if (shortfall === 0) return { charge, cost, shortfall };
  let missing = shortfall;
  const reduce = (part: number) => {
    const cut = Math.min(part, missing);
    missing -= cut;
    return part - cut;
  };
  return {
    charge: {
      modelCharge: reduce(charge.modelCharge),
      managedToolFee: reduce(charge.managedToolFee),
      byokPlatformFee: reduce(charge.byokPlatformFee),
    },
    cost,
    shortfall,
  };
}

/**
 * The charge in amounts that the ledger can hold: whole, not negative, and in sum exact as a
 * number. Returns the very same object when nothing had to be changed.
 */
export function toStorableCharge(charge: Charge): Charge {
  if (
    isAmount(charge.modelCharge) &&
    isAmount(charge.byokPlatformFee) &&
    isAmount(charge.managedToolFee) &&
    isAmount(totalOf(charge))
  ) {
    return charge;
  }
  let room = Number.MAX_SAFE_INTEGER;
  const clamp = (part: number) => {
    // NaN compares false with everything and becomes 0.
    const amount = part > 0 ? Math.min(Math.ceil(part), room) : 0;
    room -= amount;
    return amount;
  };
  return {
    modelCharge: clamp(charge.modelCharge),
    byokPlatformFee: clamp(charge.byokPlatformFee),
    managedToolFee: clamp(charge.managedToolFee),
  };
}

/** Credits that may be stored: a whole number from 0 to 2^53 − 1. */
export function isAmount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
