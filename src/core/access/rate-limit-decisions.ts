export const WINDOW_MS = 60_000;

/**
 * The decision on the `count`th request of a key in the clock minute that `nowMs` (Unix
 * milliseconds) falls in. Pure.
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

/** Of the decisions on several counters of a request, the one that its caller has to heed. */
export function tighterOf(
  one: RateLimitDecision | undefined,
  other: RateLimitDecision,
): RateLimitDecision {
  if (!one || !other.allowed) return other;
  return one.remaining <= other.remaining ? one : other;
}

/** Whether one more request of a key fits its current minute, and what to tell the caller. */
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

/** What is counted besides, more or less. */
export interface MinuteChange {
  /** Of a counter. */
  readonly name: string;
  readonly amount: number;
}

/** What a request takes of a counter, of which there is so much in a minute. */
export interface MinutePart extends MinuteChange {
  readonly limit: number;
}

export interface PartsDecision {
  /** In which it was counted, since 1970. */
  readonly minute: number;
  /** The part for which there is no room, and what the minute has left of it; undefined: all were taken. */
  readonly refused?: {
    readonly index: number;
    readonly remaining: number;
    readonly retryAfterSeconds: number;
  };
}

/** @param refused index of the part that does not fit, below 0: all fit */
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
