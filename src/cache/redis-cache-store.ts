import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Redis } from 'ioredis';
import { CacheStore } from './cache-store.js';

/** A request never waits longer for what may be kept for it. */
const COMMAND_TIMEOUT_MS = 100;
/** The start does not wait longer for a Redis that does not answer. */
const CONNECT_TIMEOUT_MS = 2_000;
/** So long Redis is left alone after a failure: a hanging one must not slow every request. */
const PAUSE_AFTER_FAILURE_MS = 1_000;
const KEY_PREFIX = 'gateway:cache:';

/** Keeps answers in Redis, for all instances. While Redis fails, nothing is found and nothing kept. */
export class RedisCacheStore extends CacheStore implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(RedisCacheStore.name);
  private readonly redis: Redis;
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
      connectionName: 'model-gateway-cache',
      retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
    });
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

  async get(key: string): Promise<Buffer | undefined> {
    if (this.isPaused) return undefined;
    try {
      const value = await this.redis.getBuffer(KEY_PREFIX + key);
      this.reportSuccess();
      return value ?? undefined;
    } catch (error) {
      this.pause(error as Error);
      return undefined;
    }
  }

  set(key: string, value: Buffer, ttlSeconds: number): void {
    if (this.isPaused) return;
    this.redis.set(KEY_PREFIX + key, value, 'EX', ttlSeconds).then(
      () => this.reportSuccess(),
      (error: Error) => this.pause(error),
    );
  }

  private get isPaused(): boolean {
    return performance.now() < this.pausedUntilMs;
  }

  private pause(error: Error): void {
    this.pausedUntilMs = performance.now() + PAUSE_AFTER_FAILURE_MS;
    this.reportFailure(error);
  }

  private reportFailure(error: Error): void {
    if (this.isFailing) return;
    this.isFailing = true;
    this.logger.warn(`Redis keeps no answers (${error.message}); nothing is cached until it does`);
  }

  private reportSuccess(): void {
    if (!this.isFailing) return;
    this.isFailing = false;
    this.logger.log('Redis keeps answers again');
  }
}
