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
 * Computes the cost of a usage: `ceil(Σ usage × price)` in credits, rounded once over the whole sum. The
 * managed tool fee for vendor-run tools is rounded so that the parts add up. Audio is priced per minute
 * but counted in milliseconds, so the sum is in sixty-thousandths until it is rounded. Pure and exact.
 */
export function priceUsage(usage: Usage, pricing: ExactPricing): Charge {
  const tools = times(usage.webSearches, pricing.webSearch);
  const model = modelUnits(usage, pricing);
  const audio = times(usage.audioMs, pricing.audioMinute);
  const total = ceilCredits(model + tools, audio);
  const modelCharge = Math.min(ceilCredits(model, audio), total);
  return { modelCharge, byokPlatformFee: 0, managedToolFee: total - modelCharge };
}

/** Returns the cost in price units, without audio and the vendor's tools. */
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
 * Computes the charge for a usage on a route. On BYOK traffic the vendor bills the tenant, tools
 * included, and the charge is a fee: `ceil(cost × percent / 100)` of the cost on shared capacity, in
 * whole credits.
 */
export function priceRoute(usage: Usage, billedBy: BilledBy): Charge {
  const { trafficMode, byokFeePercent = 0 } = billedBy;
  const charge = priceUsage(usage, pricingOf(billedBy, usage));
  if (trafficMode === 'shared') return charge;
  const fee = (BigInt(totalOf(charge)) * BigInt(byokFeePercent) + 99n) / 100n;
  return { modelCharge: 0, byokPlatformFee: Number(fee), managedToolFee: 0 };
}

/**
 * Returns how many output tokens `credits` pay for after the rest of a text usage, at the higher of the
 * completion and reasoning prices; negative when they do not cover the rest.
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

/** Returns the sum of a charge's parts, in credits. */
export function totalOf(charge: Charge): number {
  return charge.modelCharge + charge.byokPlatformFee + charge.managedToolFee;
}

/** Most counts are 0, which skips the arithmetic. */
function times(count: number, price: bigint): bigint {
  return count === 0 ? 0n : BigInt(count) * price;
}

/** @param audio price units times milliseconds, per minute */
function ceilCredits(units: bigint, audio: bigint): number {
  if (audio === 0n) return Number((units + UNITS_PER_CREDIT - 1n) / UNITS_PER_CREDIT);
  const divisor = UNITS_PER_CREDIT * MS_PER_MINUTE;
  return Number((units * MS_PER_MINUTE + audio + divisor - 1n) / divisor);
}

/** A charge after capping at the tenant's available credits. */
export interface PayableCharge {
  /** The parts that the tenant pays; their sum is `cost`. */
  charge: Charge;
  cost: number;
  /** The unpaid rest of the charge. */
  shortfall: number;
}

/**
 * Splits a charge into the part that `available` credits pay and a shortfall. The shortfall reduces the
 * model charge first, so fees stay whole as long as possible.
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
 * Returns the charge in amounts that the ledger can store: integers from 0 whose sum is exact. Returns
 * the same object when nothing changes.
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
    // NaN fails every comparison and becomes 0.
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

/** Returns whether credits can be stored: an integer from 0 to 2^53 − 1. */
export function isAmount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
