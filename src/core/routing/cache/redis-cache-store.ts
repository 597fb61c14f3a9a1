import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { PausingRedis } from '../../../platform/redis/pausing-redis.js';
import { CacheStore } from './cache-store.js';

/** A request never waits longer for what may be kept for it. */
const COMMAND_TIMEOUT_MS = 100;
const KEY_PREFIX = 'gateway:cache:';

/** Keeps answers in Redis, for all instances. While Redis fails, nothing is found and nothing kept. */
export class RedisCacheStore extends CacheStore implements OnModuleInit, OnApplicationShutdown {
  private readonly redis: PausingRedis;

  constructor(url: string) {
    super();
    this.redis = new PausingRedis(url, {
      name: 'model-gateway-cache',
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      logger: new Logger(RedisCacheStore.name),
      whenFailing: (reason) =>
        `Redis keeps no answers (${reason}); nothing is cached until it does`,
      whenBack: 'Redis keeps answers again',
    });
  }

  onModuleInit(): Promise<void> {
    return this.redis.connect();
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }

  async get(key: string): Promise<Buffer | undefined> {
    return (await this.redis.ask((redis) => redis.getBuffer(KEY_PREFIX + key))) ?? undefined;
  }

  set(key: string, value: Buffer, ttlSeconds: number): void {
    void this.redis.ask((redis) => redis.set(KEY_PREFIX + key, value, 'EX', ttlSeconds));
  }
}
