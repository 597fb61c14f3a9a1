import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { PausingRedis } from '../../../platform/redis/pausing-redis.js';
import { LRUCache } from 'lru-cache';

/** Where answers are kept for a while. A store that fails has simply nothing. */
export abstract class CacheStore {
  /** What is kept under a key, as it was given. Never rejects. */
  abstract get(key: string): Buffer | undefined | Promise<Buffer | undefined>;

  /** Keeps a value, which must not be changed afterwards. Nobody waits for it. */
  abstract set(key: string, value: Buffer, ttlSeconds: number): void;
}

/** What an entry takes beside its value, as measured: key, buffer objects, place in the map. */
const ENTRY_OVERHEAD_BYTES = 700;

/** Keeps answers in this process's memory; those that nobody has asked for longest go first. */
export class InProcessCacheStore extends CacheStore {
  private readonly entries: LRUCache<string, Buffer> | undefined;

  /** @param maxBytes of all entries together; 0 keeps nothing */
  constructor(maxBytes: number) {
    super();
    if (maxBytes > 0) {
      // The clock as it is now, which a test may have replaced.
      const perf = performance;
      this.entries = new LRUCache({ maxSize: maxBytes, sizeCalculation: sizeOf, perf });
    }
  }

  /** Memory in use, in bytes. */
  get bytes(): number {
    return this.entries?.calculatedSize ?? 0;
  }

  get(key: string): Buffer | undefined {
    return this.entries?.get(key);
  }

  set(key: string, value: Buffer, ttlSeconds: number): void {
    this.entries?.set(key, withoutNeighbours(value), { ttl: ttlSeconds * 1000 });
  }
}

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

/** Small buffers share a block of memory, all of which one that is kept would hold on to. */
function withoutNeighbours(value: Buffer): Buffer {
  if (value.buffer.byteLength === value.length) return value;
  const own = Buffer.allocUnsafeSlow(value.length);
  value.copy(own);
  return own;
}

function sizeOf(value: Buffer): number {
  return value.length + ENTRY_OVERHEAD_BYTES;
}
