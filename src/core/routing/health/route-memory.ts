import { MAX_MS, type RouteNews } from './health-message.js';

/** Failures in a row after which a route is left alone for a while. */
export const FAILURES_TO_OPEN = 5;

/** How a route has fared, as far as it says how it will. Times are on a monotonic clock. */
export interface RouteMemory {
  /** When the latest call began. */
  triedMs: number;
  failures: number;
  coolUntilMs: number;
  /** When the latest pause began or an answer ended one: earlier calls say nothing new by failing. */
  turnedMs: number;
  /** The end of the latest pause as other instances know it. */
  toldUntilMs: number;
  /** When an answer last came to its end here. */
  completedMs: number;
  /** Whether a request would have taken the route since this was last asked. */
  isWanted: boolean;
}

/** From well to bad. `cooling`: the vendor asked to wait; `open`: a run of failures opened the breaker. */
export const ROUTE_STATES = ['healthy', 'cooling', 'open'] as const;
export type RouteState = (typeof ROUTE_STATES)[number];

export function stateOf({ coolUntilMs, failures }: RouteMemory, nowMs: number): RouteState {
  if (coolUntilMs <= nowMs) return 'healthy';
  return failures >= FAILURES_TO_OPEN - 1 ? 'open' : 'cooling';
}

/** Whether failures have put the route on a pause that no answer has ended: once it is over one call at a time tries it. */
export function isOpen({ failures, coolUntilMs }: RouteMemory): boolean {
  return failures >= FAILURES_TO_OPEN - 1 && coolUntilMs > 0;
}

/** What other instances are to know of a route; one that nothing is remembered of is well. */
export function newsOf(name: string, memory: RouteMemory | undefined, nowMs: number): RouteNews {
  if (!memory) return { type: 'well', name, ageMs: 0, restMs: 0 };
  const ageMs = Math.min(MAX_MS, Math.max(0, Math.floor(nowMs - memory.turnedMs)));
  const restMs = Math.min(MAX_MS, Math.max(0, Math.ceil(memory.coolUntilMs - nowMs)));
  if (isOpen(memory)) return { type: 'open', name, ageMs, restMs };
  return { type: restMs > 0 ? 'cooling' : 'well', name, ageMs, restMs };
}
