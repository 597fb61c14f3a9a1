import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Redis } from 'ioredis';
import type { Caller } from './caller.js';
import { decideRateLimit } from './decide-rate-limit.js';
import { InProcessRateLimiter } from './in-process-rate-limiter.js';
import { RateLimiter, type RateLimitDecision } from './rate-limiter.js';

/** A request never waits longer for its count. */
const COMMAND_TIMEOUT_MS = 500;
/** The start does not wait longer for a Redis that does not answer. */
const CONNECT_TIMEOUT_MS = 2_000;
/** So long Redis is left alone after a failure: a hanging one must not slow every request. */
const PAUSE_AFTER_FAILURE_MS = 1_000;

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

interface RedisWithTake extends Redis {
  takeRequest(key: string): Promise<[count: number, nowMs: number]>;
}

/**
 * Counts in Redis, exactly over all instances. While Redis fails, each instance counts for itself:
 * requests go on, under a limit that is per instance then.
 */
export class RedisRateLimiter extends RateLimiter implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(RedisRateLimiter.name);
  private readonly redis: RedisWithTake;
  private readonly fallback = new InProcessRateLimiter();
  private isFailing = false;
  private pausedUntilMs = 0;

  constructor(url: string) {
    super();
    this.redis = new Redis(url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: CONNECT_TIMEOUT_MS,
      commandTimeout: COMMAND_TIMEOUT_MS,
      connectionName: 'model-gateway-rate-limit',
      retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
      scripts: { takeRequest: { lua: TAKE_SCRIPT, numberOfKeys: 1 } },
    }) as RedisWithTake;
    // Without a listener a connection error would be thrown at the process.
    this.redis.on('error', (error: Error) => this.reportFailure(error));
  }

  async onModuleInit(): Promise<void> {
    // A Redis that is away at the start is an outage like any other.
    await this.redis.connect().catch((error: Error) => this.reportFailure(error));
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }

  take(caller: Caller): RateLimitDecision | Promise<RateLimitDecision> {
    if (performance.now() < this.pausedUntilMs) return this.fallback.take(caller);
    return this.takeFromRedis(caller);
  }

  private async takeFromRedis(caller: Caller): Promise<RateLimitDecision> {
    try {
      const [count, nowMs] = await this.redis.takeRequest(`gateway:rate-limit:${caller.apiKeyId}`);
      this.reportSuccess();
      return decideRateLimit(caller.rateLimitPerMinute, count, nowMs);
    } catch (error) {
      this.pausedUntilMs = performance.now() + PAUSE_AFTER_FAILURE_MS;
      this.reportFailure(error as Error);
      return this.fallback.take(caller);
    }
  }

  private reportFailure(error: Error): void {
    if (this.isFailing) return;
    this.isFailing = true;
    this.logger.warn(
      `Redis does not count requests (${error.message}); rate limits hold per instance until it does`,
    );
  }

  private reportSuccess(): void {
    if (!this.isFailing) return;
    this.isFailing = false;
    this.logger.log('Redis counts requests again; rate limits hold over all instances');
  }
}
