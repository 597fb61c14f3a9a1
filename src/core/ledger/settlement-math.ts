import type { Charge } from './ledger-operations.js';
import { totalOf } from './pricing.js';

/** A charge after the tenant's purse had its say. */
export interface PayableCharge {
  /** The parts that the tenant pays; their sum is `cost`. */
  charge: Charge;
  cost: number;
  /** What the tenant could not pay; `cost + shortfall` is the whole charge. */
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
