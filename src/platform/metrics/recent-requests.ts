const SLOT_MS = 5_000;
/** Includes the current slot, so that a full minute is always covered. */
const SLOTS = 13;
/** Four per doubling, up to 2^24 ms: quantiles are accurate to a tenth. */
const BUCKETS = 97;
const BUCKETS_A_DOUBLING = 4;

interface Slot {
  /** The slot's number since the clock's start; -1: unused. */
  number: number;
  requests: number;
  errors: number;
  readonly latencies: Uint32Array;
}

/** Requests answered by a process in about the last minute, or since its start. */
export interface RecentFigures {
  /** Length of that time in seconds. */
  readonly seconds: number;
  readonly requests: number;
  readonly errors: number;
  /** Milliseconds, accurate to a tenth; null without requests. */
  readonly latency_p50: number | null;
  readonly latency_p95: number | null;
}

/** Counts requests of the last minute in slots of five seconds, at the cost of a few additions each. */
export class RecentRequests {
  private readonly slots: Slot[] = Array.from({ length: SLOTS }, () => ({
    number: -1,
    requests: 0,
    errors: 0,
    latencies: new Uint32Array(BUCKETS),
  }));

  constructor(private readonly startedMs = performance.now()) {}

  note(isError: boolean, latencyMs: number, nowMs = performance.now()): void {
    const number = Math.floor(nowMs / SLOT_MS);
    const slot = this.slots[number % SLOTS]!;
    if (slot.number !== number) {
      slot.number = number;
      slot.requests = 0;
      slot.errors = 0;
      slot.latencies.fill(0);
    }
    slot.requests++;
    if (isError) slot.errors++;
    const bucket = Math.round(Math.log2(Math.max(1, latencyMs)) * BUCKETS_A_DOUBLING);
    slot.latencies[Math.min(bucket, BUCKETS - 1)]!++;
  }

  read(nowMs = performance.now()): RecentFigures {
    const first = Math.floor(nowMs / SLOT_MS) - SLOTS + 1;
    const live = this.slots.filter(({ number }) => number >= first);
    const sinceMs = Math.max(first * SLOT_MS, this.startedMs);
    const latencies = new Uint32Array(BUCKETS);
    for (const slot of live) slot.latencies.forEach((count, index) => (latencies[index]! += count));
    const requests = live.reduce((sum, slot) => sum + slot.requests, 0);
    return {
      seconds: Math.max(1, Math.round((nowMs - sinceMs) / 1_000)),
      requests,
      errors: live.reduce((sum, { errors }) => sum + errors, 0),
      latency_p50: quantileOf(latencies, requests, 0.5),
      latency_p95: quantileOf(latencies, requests, 0.95),
    };
  }
}

function quantileOf(latencies: Uint32Array, count: number, quantile: number): number | null {
  if (count === 0) return null;
  let left = Math.ceil(count * quantile);
  const bucket = latencies.findIndex((own) => (left -= own) <= 0);
  return Math.round(2 ** (bucket / BUCKETS_A_DOUBLING));
}
