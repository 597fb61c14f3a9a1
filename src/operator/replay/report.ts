import { increaseOf } from './bounds.js';
import type { Comparison, Durations, Logged, Outcomes, Pair } from './comparison.js';
import type { OutcomeSource } from './vendor-outcomes.js';
import type { Window } from './log-window.js';

const QUANTILES = { p50: 0.5, p95: 0.95, p99: 0.99 } as const;
/** With a larger deviation, the replay is too inaccurate to rely on. */
export const LARGEST_DEVIATION = 0.05;

/** Limitations of a replay. */
export const NOT_SIMULATED = [
  'Request options that the log lacks (older rows, jobs): the fallback chain is inferred from the attempts, and the hold is that of a request without an output limit.',
  'Vendors slowing down or rate limiting because traffic moves to them: they respond as they did in the window.',
  'Budgets, end-user limits, guardrails and new cache hits; requests and tokens per minute are limited only with --scale and --speed.',
  'Separate instances: routing state is shared, as if one process had served everything.',
  'Callers that would have disconnected or retried because of the change.',
  'Stream recovery beyond what the log shows. Recovered streams are priced at the route that answered last. Cached answers keep their logged cost and duration.',
] as const;

export interface ReportInput {
  readonly window: Window;
  readonly changes: readonly string[];
  readonly comparison: Comparison;
  readonly logged: Logged;
  readonly notPlayed: number;
  /** Number of requests whose options were logged. */
  readonly withOptions: number;
  readonly calls: Readonly<Record<OutcomeSource, number>>;
  readonly tenantNames: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
  readonly passed: readonly string[];
  readonly seconds: number;
}

export type Report = ReturnType<typeof makeReport>;

/** Returns all results in the form of the JSON report. Money is in credits, times are in milliseconds. */
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
    asked_in_log: input.withOptions,
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

/** JSON has no infinity, so a change from zero is null. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** Compares the replay without any change to the log. */
export function calibrationLine({ calibration }: Report): string {
  const { logged, replayed } = calibration;
  return (
    `Calibration: logged ${logged.cost} credits charged (${logged.vendor_cost} vendor cost), ` +
    `${logged.failed} failures, ${logged.no_credits} × 402 and ${logged.too_many} × 429; replayed without changes ` +
    `${replayed.cost} (${percent(calibration.cost_deviation)}), ${replayed.vendor_cost} ` +
    `(${percent(calibration.vendor_cost_deviation)}), ${replayed.failed}, ${replayed.no_credits} and ${replayed.too_many}.`
  );
}

export function isCalibrated({ calibration }: Report): boolean {
  const { cost_deviation: deviation } = calibration;
  return deviation !== null && Math.abs(deviation) <= LARGEST_DEVIATION;
}

/** Formats a relative change in percent. Null means a change from zero. */
export function percent(share: number | null): string {
  if (share === null) return 'from 0';
  const text = (share * 100).toFixed(2);
  return `${share < 0 ? '' : '+'}${text} %`;
}
