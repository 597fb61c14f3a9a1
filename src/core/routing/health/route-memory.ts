import { MAX_MS, type RouteNews } from './health-message.js';

/** Consecutive failures that open the breaker. */
export const FAILURES_TO_OPEN = 5;

/** The health of a route. Times are on a monotonic clock. */
export interface RouteMemory {
  /** Start of the latest call. */
  triedMs: number;
  failures: number;
  coolUntilMs: number;
  /**
   * Start of the latest pause, or the answer that ended one. Failures of earlier calls are ignored.
   */
  changedMs: number;
  /** End of the latest pause as other instances know it. */
  reportedUntilMs: number;
  /** When an answer last completed here. */
  completedMs: number;
  /** True when a request wanted the route since this was last read. */
  isWanted: boolean;
}

/**
 * From healthy to bad. `cooling`: the vendor asked to wait; `open`: a run of failures opened the
 * breaker.
 */
export const ROUTE_STATES = ['healthy', 'cooling', 'open'] as const;
export type RouteState = (typeof ROUTE_STATES)[number];

export function stateOf({ coolUntilMs, failures }: RouteMemory, nowMs: number): RouteState {
  if (coolUntilMs <= nowMs) return 'healthy';
  return failures >= FAILURES_TO_OPEN - 1 ? 'open' : 'cooling';
}

/**
 * Returns whether failures paused the route and no answer has ended that. After the pause, one call
 * at a time probes it.
 */
export function isOpen({ failures, coolUntilMs }: RouteMemory): boolean {
  return failures >= FAILURES_TO_OPEN - 1 && coolUntilMs > 0;
}

/** Builds the report on a route; unknown routes are healthy. */
export function newsOf(name: string, memory: RouteMemory | undefined, nowMs: number): RouteNews {
  if (!memory) return { type: 'well', name, ageMs: 0, restMs: 0 };
  const ageMs = Math.min(MAX_MS, Math.max(0, Math.floor(nowMs - memory.changedMs)));
  const restMs = Math.min(MAX_MS, Math.max(0, Math.ceil(memory.coolUntilMs - nowMs)));
  if (isOpen(memory)) return { type: 'open', name, ageMs, restMs };
  return { type: restMs > 0 ? 'cooling' : 'well', name, ageMs, restMs };
}
