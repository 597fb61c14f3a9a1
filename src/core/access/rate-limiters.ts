import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { PausingRedis } from '../../platform/redis/pausing-redis.js';
import type { Caller } from './caller.js';

/** Counts requests per key in fixed windows of one clock minute. */
export abstract class RateLimiter {
  /**
   * Counts one request and decides on it. A key under others counts on those too, the nearest first
   * and no further than one that refuses, so that it cannot use up more of theirs than its own.
   */
  abstract take(caller: CountedCaller): RateLimitDecision | Promise<RateLimitDecision>;

  /** Whether it counts in this process alone for now, because Redis fails. */
  get isDegraded(): boolean {
    return false;
  }

  /** Finds out whether Redis is back, which else shows with the next request. Never rejects. */
  check(): Promise<void> {
    return Promise.resolve();
  }
}

export const WINDOW_MS = 60_000;

/**
 * Counts within this process: exact for one instance. Memory is bounded by the keys seen in one
 * minute, because all counts are dropped when the next one begins.
 */
export class InProcessRateLimiter extends RateLimiter {
  private window = 0;
  private counts = new Map<string, number>();

  take(caller: CountedCaller): RateLimitDecision {
    const nowMs = Date.now();
    const window = Math.floor(nowMs / WINDOW_MS);
    if (window !== this.window) {
      this.window = window;
      this.counts = new Map();
    }
    if (!caller.countsOn) return this.count(caller.apiKeyId, caller.rateLimitPerMinute, nowMs);
    let decision: RateLimitDecision | undefined;
    for (const { id, rateLimitPerMinute } of caller.countsOn) {
      decision = tighterOf(decision, this.count(id, rateLimitPerMinute, nowMs));
      if (!decision.allowed) break;
    }
    return decision!;
  }

  private count(keyId: string, limit: number, nowMs: number): RateLimitDecision {
    const count = (this.counts.get(keyId) ?? 0) + 1;
    this.counts.set(keyId, count);
    return decideRateLimit(limit, count, nowMs);
  }
}

/** A request never waits longer for its count. */
const COMMAND_TIMEOUT_MS = 500;

/**
 * Counts one request. The minute is that of Redis's own clock, so instances whose clocks differ
 * still share one window. The window is kept beside the count, not left to the key's expiry, whose
 * last millisecond belongs to the next minute; expiry only frees the memory of idle keys.
 */
const TAKE_SCRIPT = `
local time = redis.call('TIME')
local window = math.floor(time[1] / 60)
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local count = 1
if redis.call('HGET', KEYS[1], 'window') == tostring(window) then
  count = redis.call('HINCRBY', KEYS[1], 'count', 1)
else
  redis.call('HSET', KEYS[1], 'window', tostring(window), 'count', 1)
  redis.call('PEXPIRE', KEYS[1], 120000)
end
return {count, now_ms}
`;

/**
 * Counts in Redis, exactly over all instances. While Redis fails, each instance counts for itself:
 * requests go on, under a limit that is per instance then.
 */
export class RedisRateLimiter extends RateLimiter implements OnModuleInit, OnApplicationShutdown {
  private readonly redis: PausingRedis<RedisWithTake>;
  private readonly fallback = new InProcessRateLimiter();

  constructor(url: string) {
    super();
    this.redis = new PausingRedis(url, {
      name: 'model-gateway-rate-limit',
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      scripts: { takeRequest: { lua: TAKE_SCRIPT, numberOfKeys: 1 } },
      logger: new Logger(RedisRateLimiter.name),
      whenFailing: (reason) =>
        `Redis does not count requests (${reason}); rate limits hold per instance until it does`,
      whenBack: 'Redis counts requests again; rate limits hold over all instances',
    });
  }

  onModuleInit(): Promise<void> {
    return this.redis.connect();
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }

  override get isDegraded(): boolean {
    return this.redis.isDegraded;
  }

  /** By counting, since a Redis without memory answers and counts nothing. */
  override async check(): Promise<void> {
    await this.redis.ask((redis) => redis.takeRequest('gateway:rate-limit:check'));
  }

  take(caller: CountedCaller): RateLimitDecision | Promise<RateLimitDecision> {
    if (this.redis.isPaused) return this.fallback.take(caller);
    return this.takeFromRedis(caller);
  }

  private async takeFromRedis(caller: CountedCaller): Promise<RateLimitDecision> {
    const { apiKeyId: id, rateLimitPerMinute } = caller;
    let decision: RateLimitDecision | undefined;
    for (const key of caller.countsOn ?? [{ id, rateLimitPerMinute }]) {
      const name = `gateway:rate-limit:${key.id}`;
      const counted = await this.redis.ask((redis) => redis.takeRequest(name));
      if (!counted) return this.fallback.take(caller);
      const [count, nowMs] = counted;
      decision = tighterOf(decision, decideRateLimit(key.rateLimitPerMinute, count, nowMs));
      if (!decision.allowed) break;
    }
    return decision!;
  }
}

interface RedisWithTake extends Redis {
  takeRequest(key: string): Promise<[count: number, nowMs: number]>;
}

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
function tighterOf(
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

/** Whose count, and its limit. */
type CountedCaller = Pick<Caller, 'apiKeyId' | 'rateLimitPerMinute' | 'countsOn'>;
