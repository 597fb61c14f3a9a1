import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { SYSTEM_CLOCK, type Clock } from '../../canonical/clock.js';
import { PausingRedis } from '../../platform/redis/pausing-redis.js';
import type { Caller } from './caller.js';
import {
  decideParts,
  decideRateLimit,
  tighterOf,
  WINDOW_MS,
  type MinuteChange,
  type MinutePart,
  type PartsDecision,
  type RateLimitDecision,
} from './rate-limit-decisions.js';
import { CORRECT_SCRIPT, TAKE_PARTS_SCRIPT, TAKE_SCRIPT } from './rate-limit-scripts.js';

/** Counts requests per key in fixed windows of one clock minute. */
export abstract class RateLimiter {
  /**
   * Counts one request and decides on it. A nested key also counts against its ancestors, nearest
   * first, and stops at the first refusal so that refused requests use up none of the ancestors' limits.
   */
  abstract take(caller: CountedCaller): RateLimitDecision | Promise<RateLimitDecision>;

  /** Counts all parts in the current minute, or none of them when one does not fit. */
  abstract takeParts(parts: readonly MinutePart[]): PartsDecision | Promise<PartsDecision>;

  /**
   * Corrects counters. Increases count in the current minute; decreases apply only while `minute` is
   * the current one. Never rejects.
   *
   * @param minute from the `takeParts` being corrected
   */
  abstract correct(changes: readonly MinuteChange[], minute: number): void | Promise<void>;

  /** True when it counts in this process only, because Redis is failing. */
  get isDegraded(): boolean {
    return false;
  }

  /** Probes Redis, so that recovery does not wait for the next request. Never rejects. */
  check(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * Counts in this process, which is exact for one instance. Memory is bounded by the keys of one minute,
 * because all counts are dropped when the next one begins.
 */
export class InProcessRateLimiter extends RateLimiter {
  constructor(private readonly clock: Pick<Clock, 'now'> = SYSTEM_CLOCK) {
    super();
  }

  private window = 0;
  private counts = new Map<string, number>();

  take(caller: CountedCaller): RateLimitDecision {
    const nowMs = this.enterMinute();
    if (!caller.countsOn) return this.count(caller.apiKeyId, caller.rateLimitPerMinute, nowMs);
    let decision: RateLimitDecision | undefined;
    for (const { id, rateLimitPerMinute } of caller.countsOn) {
      decision = tighterOf(decision, this.count(id, rateLimitPerMinute, nowMs));
      if (!decision.allowed) break;
    }
    return decision!;
  }

  takeParts(parts: readonly MinutePart[]): PartsDecision {
    const nowMs = this.enterMinute();
    const refused = parts.findIndex(({ name, amount, limit }) => this.of(name) + amount > limit);
    const decision = decideParts(
      parts,
      refused,
      refused < 0 ? 0 : this.of(parts[refused]!.name),
      nowMs,
    );
    if (!decision.refused) this.add(parts);
    return decision;
  }

  correct(changes: readonly MinuteChange[], minute: number): void {
    this.enterMinute();
    this.add(changes.filter(({ amount }) => amount > 0 || minute === this.window));
  }

  private add(changes: readonly MinuteChange[]): void {
    for (const { name, amount } of changes) {
      this.counts.set(name, Math.max(0, this.of(name) + amount));
    }
  }

  private of(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  /** Drops the counts of past minutes. @returns Unix milliseconds */
  private enterMinute(): number {
    const nowMs = this.clock.now();
    const window = Math.floor(nowMs / WINDOW_MS);
    if (window !== this.window) {
      this.window = window;
      this.counts = new Map();
    }
    return nowMs;
  }

  private count(keyId: string, limit: number, nowMs: number): RateLimitDecision {
    const count = (this.counts.get(keyId) ?? 0) + 1;
    this.counts.set(keyId, count);
    return decideRateLimit(limit, count, nowMs);
  }
}

/** Longest wait of a request for its count. */
const COMMAND_TIMEOUT_MS = 500;

/**
 * Counts in Redis, exactly across instances. While Redis is failing, each instance counts for itself, so
 * the limit applies per instance.
 */
export class RedisRateLimiter extends RateLimiter implements OnModuleInit, OnApplicationShutdown {
  private readonly redis: PausingRedis<RedisWithTake>;
  private readonly fallback = new InProcessRateLimiter();

  constructor(url: string) {
    super();
    this.redis = new PausingRedis(url, {
      name: 'model-gateway-rate-limit',
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      scripts: {
        takeRequest: { lua: TAKE_SCRIPT, numberOfKeys: 1 },
        takeParts: { lua: TAKE_PARTS_SCRIPT },
        correctParts: { lua: CORRECT_SCRIPT },
      },
      logger: new Logger(RedisRateLimiter.name),
      whenFailing: (reason) =>
        `Redis does not count requests (${reason}); rate limits apply per instance meanwhile`,
      whenBack: 'Redis counts requests again; rate limits apply across instances',
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

  /** Probes with a count, since a Redis out of memory answers but does not count. */
  override async check(): Promise<void> {
    await this.redis.ask((redis) => redis.takeRequest('gateway:rate-limit:check'));
  }

  take(caller: CountedCaller): RateLimitDecision | Promise<RateLimitDecision> {
    if (this.redis.isPaused) return this.fallback.take(caller);
    return this.takeFromRedis(caller);
  }

  async takeParts(parts: readonly MinutePart[]): Promise<PartsDecision> {
    const keys = parts.map(({ name }) => nameInRedis(name));
    const numbers = parts.flatMap(({ amount, limit }) => [amount, limit]);
    const taken = await this.redis.ask(async (redis) =>
      assertCounts(await redis.takeParts(keys.length, ...keys, ...numbers), 3),
    );
    if (!taken) return this.fallback.takeParts(parts);
    const [refused, count, nowMs] = taken;
    return decideParts(parts, refused - 1, count, nowMs);
  }

  async correct(changes: readonly MinuteChange[], minute: number): Promise<void> {
    const keys = changes.map(({ name }) => nameInRedis(name));
    const numbers = [minute, ...changes.map(({ amount }) => amount)];
    const corrected = await this.redis.ask((redis) =>
      redis.correctParts(keys.length, ...keys, ...numbers),
    );
    if (corrected === undefined) this.fallback.correct(changes, minute);
  }

  private async takeFromRedis(caller: CountedCaller): Promise<RateLimitDecision> {
    const { apiKeyId: id, rateLimitPerMinute } = caller;
    let decision: RateLimitDecision | undefined;
    for (const key of caller.countsOn ?? [{ id, rateLimitPerMinute }]) {
      const counted = await this.redis.ask(async (redis) =>
        assertCounts(await redis.takeRequest(nameInRedis(key.id)), 2),
      );
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
  takeParts(
    keyCount: number,
    ...keysAndNumbers: (string | number)[]
  ): Promise<[refused: number, count: number, nowMs: number]>;
  correctParts(keyCount: number, ...keysAndNumbers: (string | number)[]): Promise<number>;
}

/** @throws Error for a reply that the scripts cannot give */
function assertCounts<Counts extends readonly number[]>(reply: Counts, length: number): Counts {
  const isValid =
    Array.isArray(reply) &&
    reply.length === length &&
    reply.every((count) => Number.isSafeInteger(count) && count >= 0);
  if (isValid) return reply;
  throw new Error('unexpected reply');
}

function nameInRedis(name: string): string {
  return `gateway:rate-limit:${name}`;
}

/** The counters of a caller and their limits. */
type CountedCaller = Pick<Caller, 'apiKeyId' | 'rateLimitPerMinute' | 'countsOn'>;
