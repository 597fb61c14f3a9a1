import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { PausingRedis } from '../../platform/redis/pausing-redis.js';
import type { Caller } from './caller.js';
import { decideRateLimit } from './decide-rate-limit.js';
import { InProcessRateLimiter } from './in-process-rate-limiter.js';
import { RateLimiter, type RateLimitDecision } from './rate-limiter.js';

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

interface RedisWithTake extends Redis {
  takeRequest(key: string): Promise<[count: number, nowMs: number]>;
}

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

  take(caller: Caller): RateLimitDecision | Promise<RateLimitDecision> {
    if (this.redis.isPaused) return this.fallback.take(caller);
    return this.takeFromRedis(caller);
  }

  private async takeFromRedis(caller: Caller): Promise<RateLimitDecision> {
    const key = `gateway:rate-limit:${caller.apiKeyId}`;
    const counted = await this.redis.ask((redis) => redis.takeRequest(key));
    if (!counted) return this.fallback.take(caller);
    const [count, nowMs] = counted;
    return decideRateLimit(caller.rateLimitPerMinute, count, nowMs);
  }
}
