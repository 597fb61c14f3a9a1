import { increaseOf } from './bounds.js';
import type { Comparison, Durations, Logged, Outcomes, Pair } from './comparison.js';
import type { OutcomeSource } from './vendor-outcomes.js';
import type { Window } from './log-window.js';

const QUANTILES = { p50: 0.5, p95: 0.95, p99: 0.99 } as const;
/** Further off, a replay of what was says little about what would have been. */
export const LARGEST_DEVIATION = 0.05;

/** What a rehearsal cannot tell. */
export const NOT_SIMULATED = [
  "What callers asked for beyond a model where the log does not have it (older rows, jobs): a request's chain is then what its log row shows to have been asked, and its hold is that of a request without a limit.",
  'How slow or limited vendors become under traffic that moves to them; they answer as they did in the window.',
  'Budgets, limits of end users, guardrails and answers from the cache; requests and tokens per minute are only looked at with --scale and --speed.',
  'Instances of their own: there is one memory of routes, as if one process had served all.',
  'Callers who would have left, or sent their requests again, because of what was changed.',
  'Streams that break off are not gone on with where they were not in the log. Those that were are priced at the route that answered last. Kept answers cost and take what the log says.',
] as const;

export interface ReportInput {
  readonly window: Window;
  readonly changes: readonly string[];
  readonly comparison: Comparison;
  readonly logged: Logged;
  readonly notPlayed: number;
  /** Requests of which the log has what was asked for beyond a model. */
  readonly asked: number;
  readonly calls: Readonly<Record<OutcomeSource, number>>;
  readonly tenantNames: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
  readonly passed: readonly string[];
  readonly seconds: number;
}

export type Report = ReturnType<typeof makeReport>;

/** All that was found, as JSON has it. Money is credits, times are milliseconds. */
export function makeReport(input: ReportInput) {
  const { comparison, logged, tenantNames, window } = input;
  const { all } = comparison;
  const groups = [...comparison.groups.values()]
    .sort((one, other) => other.before.requests - one.before.requests)
    .map((group) => ({
      tenant_id: group.tenantId,
      tenant: tenantNames.get(group.tenantId) ?? group.tenantId,
      model: group.model,
      ...pairOf(group),
    }));
  return {
    from: window.from.toISOString(),
    to: window.to.toISOString(),
    changes: input.changes,
    calibration: {
      logged: {
        requests: logged.requests,
        failed: logged.failed,
        no_credits: logged.noCredits,
        too_many: logged.tooMany,
        cost: logged.cost,
        vendor_cost: logged.vendorCost,
      },
      replayed: outcomesOf(all.before),
      cost_deviation: finite(increaseOf(logged.cost, all.before.cost)),
      vendor_cost_deviation: finite(increaseOf(logged.vendorCost, all.before.vendorCost)),
    },
    all: pairOf(all),
    providers: [...comparison.providers]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([provider, pair]) => ({ provider, ...pairOf(pair) })),
    groups,
    series: comparison.series.map((pair, index) => ({
      at: new Date(window.from.getTime() + index * comparison.bucketMs).toISOString(),
      ...pairOf(pair),
    })),
    vendor_calls: input.calls,
    asked_in_log: input.asked,
    not_played: input.notPlayed,
    not_simulated: NOT_SIMULATED,
    warnings: input.warnings,
    passed_bounds: input.passed,
    seconds: Math.round(input.seconds * 10) / 10,
  };
}

function pairOf({ before, after, addedFirst, addedTotal }: Pair) {
  return {
    before: outcomesOf(before),
    after: outcomesOf(after),
    cost_increase: finite(increaseOf(before.cost, after.cost)),
    added_first_ms: quantilesOf(addedFirst),
    added_total_ms: quantilesOf(addedTotal),
  };
}

function outcomesOf(outcomes: Outcomes) {
  return {
    requests: outcomes.requests,
    answered: outcomes.answered,
    failed: outcomes.failed,
    no_credits: outcomes.noCredits,
    too_many: outcomes.tooMany,
    cost: outcomes.cost,
    vendor_cost: outcomes.vendorCost,
    first_ms: quantilesOf(outcomes.first),
    total_ms: quantilesOf(outcomes.total),
  };
}

function quantilesOf(durations: Durations) {
  const { p50, p95, p99 } = QUANTILES;
  return {
    p50: durations.quantile(p50) ?? null,
    p95: durations.quantile(p95) ?? null,
    p99: durations.quantile(p99) ?? null,
  };
}

/** JSON has no infinity; null: from nothing. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** What the replay without any change comes to, beside what the log says. */
export function calibrationLine({ calibration }: Report): string {
  const { logged, replayed } = calibration;
  return (
    `Calibration: the log has ${logged.cost} credits charged (${logged.vendor_cost} to vendors), ` +
    `${logged.failed} failures, ${logged.no_credits} × 402 and ${logged.too_many} × 429; the replay without changes ` +
    `${replayed.cost} (${percent(calibration.cost_deviation)}), ${replayed.vendor_cost} ` +
    `(${percent(calibration.vendor_cost_deviation)}), ${replayed.failed}, ${replayed.no_credits} and ${replayed.too_many}.`
  );
}

export function isCalibrated({ calibration }: Report): boolean {
  const { cost_deviation: deviation } = calibration;
  return deviation !== null && Math.abs(deviation) <= LARGEST_DEVIATION;
}

/** A share as a change in per cent; null: from nothing. */
export function percent(share: number | null): string {
  if (share === null) return 'from nothing';
  const text = (share * 100).toFixed(2);
  return `${share < 0 ? '' : '+'}${text} %`;
}
