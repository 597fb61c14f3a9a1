import type { Comparison } from './comparison.js';

/** Limits for the result of a replay. Undefined means no limit. */
export interface Bounds {
  /** Increase in the share of failed requests, from 0 to 1. */
  readonly maxFailures?: number;
  /** Added time to first content, in ms. */
  readonly maxAddedP95?: number;
  /** Increase relative to the cost before. */
  readonly maxCostIncrease?: number;
  /** Additional 402 responses. */
  readonly max402?: number;
  /** Additional 429 responses. */
  readonly max429?: number;
}

/** Returns a sentence for each exceeded bound. */
export function passedBounds(bounds: Bounds, { all }: Pick<Comparison, 'all'>): string[] {
  const { before, after, addedFirst } = all;
  const passed: string[] = [];
  const check = (
    name: string,
    limit: number | undefined,
    value: number,
    show: (value: number) => string = String,
  ) => {
    if (limit !== undefined && value > limit) {
      passed.push(`--${name}: ${show(value)} is more than ${show(limit)}`);
    }
  };
  const perCent = (share: number): string => `${(share * 100).toFixed(2)} %`;
  // Scaled traffic has more requests, so shares are compared.
  const failures = shareOf(after.failed, after.requests) - shareOf(before.failed, before.requests);
  check('max-failures', bounds.maxFailures, failures, perCent);
  check('max-added-p95', bounds.maxAddedP95, addedFirst.quantile(0.95) ?? 0, (ms) => `${ms} ms`);
  check('max-cost-increase', bounds.maxCostIncrease, increaseOf(before.cost, after.cost), perCent);
  check('max-402', bounds.max402, after.noCredits - before.noCredits);
  check('max-429', bounds.max429, after.tooMany - before.tooMany);
  return passed;
}

function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** Returns the relative increase. A change from zero is infinite. */
export function increaseOf(before: number, after: number): number {
  if (before === after) return 0;
  return before === 0 ? Infinity : (after - before) / before;
}
