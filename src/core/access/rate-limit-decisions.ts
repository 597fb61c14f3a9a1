export const WINDOW_MS = 60_000;

/**
 * Decides on the `count`th request of a key in the clock minute of `nowMs` (Unix milliseconds).
 */
export function decideRateLimit(limit: number, count: number, nowMs: number): RateLimitDecision {
  const resetAtMs = (Math.floor(nowMs / WINDOW_MS) + 1) * WINDOW_MS;
  return {
    allowed: count <= limit,
    limit,
    remaining: Math.max(0, limit - count),
    resetAtSeconds: resetAtMs / 1000,
    retryAfterSeconds: Math.max(1, Math.ceil((resetAtMs - nowMs) / 1000)),
  };
}

/** Returns the decision that limits the caller more: a refusal, or the one with fewer requests left. */
export function tighterOf(
  one: RateLimitDecision | undefined,
  other: RateLimitDecision,
): RateLimitDecision {
  if (!one || !other.allowed) return other;
  return one.remaining <= other.remaining ? one : other;
}

/** True when one more request of a key fits the current minute, with the values of its headers. */
export interface RateLimitDecision {
  readonly allowed: boolean;
  /** Requests per minute. */
  readonly limit: number;
  /** Requests left in this minute, after this one. */
  readonly remaining: number;
  /** The minute's end in Unix seconds. */
  readonly resetAtSeconds: number;
  /** Whole seconds until the minute's end, at least 1. */
  readonly retryAfterSeconds: number;
}

/** A correction to a counter; the amount may be negative. */
export interface MinuteChange {
  /** Name of the counter. */
  readonly name: string;
  readonly amount: number;
}

/** A request's share of a counter with a limit per minute. */
export interface MinutePart extends MinuteChange {
  readonly limit: number;
}

export interface PartsDecision {
  /** Minutes from 1970 to the one it was counted in. */
  readonly minute: number;
  /** The first part that did not fit, with its remaining amount; undefined when all were counted. */
  readonly refused?: {
    readonly index: number;
    readonly remaining: number;
    readonly retryAfterSeconds: number;
  };
}

/** @param refused index of the part that does not fit; negative when all fit */
export function decideParts(
  parts: readonly MinutePart[],
  refused: number,
  count: number,
  nowMs: number,
): PartsDecision {
  const minute = Math.floor(nowMs / WINDOW_MS);
  const part = parts[refused];
  if (!part) return { minute };
  const { retryAfterSeconds, remaining } = decideRateLimit(part.limit, count, nowMs);
  return { minute, refused: { index: refused, remaining, retryAfterSeconds } };
}
