import type { ReplayResult } from './replay-result.js';
import type { Window, WindowRow } from './log-window.js';

/** Steps of 2 % are precise enough for quantiles, for any number of values. */
const STEP = Math.log(1.02);
/** Callers choose names within model families, so the number of groups must be limited. */
const MAX_GROUPS = 10_000;
const OTHERS = '(others)';
/** Points of a plot. */
const MAX_BUCKETS = 96;
const MINUTE_MS = 60_000;

/** A histogram of durations or differences, which needs little memory for any number of values. */
export class Durations {
  private readonly counts = new Map<number, number>();
  count = 0;

  add(ms: number): void {
    const step = Math.sign(ms) * Math.round(Math.log1p(Math.abs(ms)) / STEP);
    this.counts.set(step, (this.counts.get(step) ?? 0) + 1);
    this.count++;
  }

  /** Returns whole milliseconds, or undefined when empty. */
  quantile(share: number): number | undefined {
    let left = Math.ceil(share * this.count);
    if (left === 0) return undefined;
    for (const step of [...this.counts.keys()].sort((one, other) => one - other)) {
      left -= this.counts.get(step)!;
      if (left <= 0) return Math.round(Math.sign(step) * Math.expm1(Math.abs(step) * STEP));
    }
    return undefined;
  }
}

/** Counts the outcomes of requests. */
export class Outcomes {
  requests = 0;
  answered = 0;
  /** Without an answer, except for lack of credits or rate limits. */
  failed = 0;
  noCredits = 0;
  tooMany = 0;
  cost = 0;
  vendorCost = 0;
  readonly first = new Durations();
  readonly total = new Durations();

  note({ outcome, cost, vendorCost, firstMs, totalMs }: ReplayResult): void {
    this.requests++;
    this.cost += cost;
    this.vendorCost += vendorCost;
    if (outcome === 'answered') this.answered++;
    else if (outcome === 'failed') this.failed++;
    else if (outcome === 'no_credits') this.noCredits++;
    else this.tooMany++;
    if (outcome !== 'answered') return;
    if (firstMs !== undefined) this.first.add(firstMs);
    if (totalMs !== undefined) this.total.add(totalMs);
  }
}

/** Outcomes of the same requests with and without the change. */
export class Pair {
  readonly before = new Outcomes();
  readonly after = new Outcomes();
  /** For requests answered both times. */
  readonly addedFirst = new Durations();
  readonly addedTotal = new Durations();
}

export interface Group extends Pair {
  readonly tenantId: string;
  readonly model: string;
}

/** Outcomes recorded in the log. */
export class Logged {
  requests = 0;
  failed = 0;
  noCredits = 0;
  tooMany = 0;
  cost = 0;
  vendorCost = 0;

  note(row: WindowRow): void {
    this.requests++;
    this.cost += row.cost;
    this.vendorCost += row.vendorCost ?? 0;
    const isPoor = row.errorType === 'insufficient_credits' || row.errorType === 'budget_exceeded';
    if (isPoor) this.noCredits++;
    else if (row.errorType === 'rate_limit_error') this.tooMany++;
    else if (row.status === 'error') this.failed++;
  }
}

/** Compares two replays that run side by side. Holds only requests that one of them has finished. */
export class Comparison {
  readonly all = new Pair();
  readonly groups = new Map<string, Group>();
  /** Buckets from the start of the window on. */
  readonly series: Pair[];
  readonly bucketMs: number;
  /** Answers by provider, with their cost. */
  readonly providers = new Map<string, Pair>();
  private readonly waiting = new Map<string, ReplayResult>();

  constructor(private readonly window: Window) {
    const spanMs = window.to.getTime() - window.from.getTime();
    this.bucketMs = Math.max(MINUTE_MS, Math.ceil(spanMs / MAX_BUCKETS / MINUTE_MS) * MINUTE_MS);
    this.series = Array.from({ length: Math.ceil(spanMs / this.bucketMs) }, () => new Pair());
  }

  note(which: 'before' | 'after', result: ReplayResult): void {
    const pairs = this.pairsOf(result);
    for (const pair of pairs) pair[which].note(result);
    if (result.provider !== undefined) {
      const pair = this.providers.get(result.provider) ?? new Pair();
      this.providers.set(result.provider, pair);
      pair[which].note(result);
    }
    if (result.copy > 0) return;
    const { requestId } = result.row;
    const other = this.waiting.get(requestId);
    if (!other) {
      this.waiting.set(requestId, result);
      return;
    }
    this.waiting.delete(requestId);
    const [before, after] = which === 'after' ? [other, result] : [result, other];
    if (before.outcome !== 'answered' || after.outcome !== 'answered') return;
    for (const pair of pairs) {
      pair.addedFirst.add((after.firstMs ?? 0) - (before.firstMs ?? 0));
      pair.addedTotal.add((after.totalMs ?? 0) - (before.totalMs ?? 0));
    }
  }

  private pairsOf({ row }: ReplayResult): Pair[] {
    const atMs = row.createdAt.getTime() - this.window.from.getTime();
    const bucket = this.series[Math.floor(atMs / this.bucketMs)];
    return [this.all, this.groupOf(row), ...(bucket ? [bucket] : [])];
  }

  private groupOf({ tenantId, model }: WindowRow): Group {
    const key = `${tenantId} ${model}`;
    const known = this.groups.get(key);
    if (known) return known;
    if (this.groups.size >= MAX_GROUPS && model !== OTHERS) {
      return this.groupOf({ tenantId, model: OTHERS } as WindowRow);
    }
    const group = Object.assign(new Pair(), { tenantId, model });
    this.groups.set(key, group);
    return group;
  }
}
