import type { Comparison } from './comparison.js';

/** What a rehearsal may come to at most; what is undefined has no bound. */
export interface Bounds {
  /** Share of the requests that fail, but for those that failed without what was changed, from 0 to 1. */
  readonly maxFailures?: number;
  /** Of the time to the first content, in ms. */
  readonly maxAddedP95?: number;
  /** Share of what was charged before. */
  readonly maxCostIncrease?: number;
  /** More than there were. */
  readonly max402?: number;
  readonly max429?: number;
}

/** A bound that was passed, as a sentence. */
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
  // With more traffic there are more requests, so shares are compared.
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

/** From nothing to anything is without end. */
export function increaseOf(before: number, after: number): number {
  if (before === after) return 0;
  return before === 0 ? Infinity : (after - before) / before;
}
