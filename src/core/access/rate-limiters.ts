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
   * Counts one request and decides on it. A key under others counts on those too, the nearest first
   * and no further than one that refuses, so that it cannot use up more of theirs than its own.
   */
  abstract take(caller: CountedCaller): RateLimitDecision | Promise<RateLimitDecision>;

  /** Takes all parts of their counters' minute, or none of them where one does not fit. */
  abstract takeParts(parts: readonly MinutePart[]): PartsDecision | Promise<PartsDecision>;

  /**
   * Counts so much more on counters, in the minute that it is now, or less, if that is still the
   * minute in which it was counted. Never rejects.
   *
   * @param minute of the `takeParts` that is corrected
   */
  abstract correct(changes: readonly MinuteChange[], minute: number): void | Promise<void>;

  /** Whether it counts in this process alone for now, because Redis fails. */
  get isDegraded(): boolean {
    return false;
  }

  /** Finds out whether Redis is back, which else shows with the next request. Never rejects. */
  check(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * Counts within this process: exact for one instance. Memory is bounded by the keys seen in one
 * minute, because all counts are dropped when the next one begins.
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

  /** Drops the counts of a minute that is over. @returns Unix milliseconds */
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

/** A request never waits longer for its count. */
const COMMAND_TIMEOUT_MS = 500;

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
      scripts: {
        takeRequest: { lua: TAKE_SCRIPT, numberOfKeys: 1 },
        takeParts: { lua: TAKE_PARTS_SCRIPT },
        correctParts: { lua: CORRECT_SCRIPT },
      },
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
  throw new Error('it gave no counts');
}

function nameInRedis(name: string): string {
  return `gateway:rate-limit:${name}`;
}

/** Whose count, and its limit. */
type CountedCaller = Pick<Caller, 'apiKeyId' | 'rateLimitPerMinute' | 'countsOn'>;
