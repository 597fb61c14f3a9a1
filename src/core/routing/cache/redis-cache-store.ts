import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { PausingRedis } from '../../../platform/redis/pausing-redis.js';
import {
  DerivedKeys,
  decryptBytes,
  encryptBytes,
  type SecretSource,
} from '../../../platform/crypto/secret-box.js';
import { CacheStore, MAX_ANSWER_BYTES, type CacheLimits } from './cache-store.js';

/** Measured size of an entry without its value: its key, its list entries, and the nonce and tag of the encryption. */
const ENTRY_OVERHEAD_BYTES = 828;

/** More than encryption adds to a value. Longer values were not written by the gateway and are not fetched. */
const LAST_BYTE = MAX_ANSWER_BYTES + 64;

/** Longest time a request waits for the cache. */
const COMMAND_TIMEOUT_MS = 100;

const KEY_PREFIX = 'gateway:cache:';
/** Bookkeeping of entries per tenant; each list holds entry keys without the prefix. */
const LISTS = ['ends', 'order', 'sizes', 'bytes'].map((name) => `gateway:cache-${name}`);

/** Share of Redis's own limit; the queue and the request counters need the rest. */
const SHARE_OF_REDIS = 0.5;

/**
 * Stores an entry within the limits. KEYS: the entry, then LISTS. ARGV: the entry's key, the value,
 * the TTL in ms, the tenant, the bytes to count, the tenant's limit, the total limit.
 *
 * `ends` and `order` hold the keys by expiry and by sequence number, `order:<tenant>` those of one
 * tenant; `sizes` holds `<tenant> <bytes>` of each entry, `bytes` the sums. Removes expired entries
 * first, which Redis has dropped already. One call removes a bounded number, so that it does not
 * block Redis, and stores nothing when that is not enough.
 *
 * The first write needs memory, so an out-of-memory error occurs before anything changes. The
 * script then evicts half of the cache, since other keys need the memory more.
 */
const SET_SCRIPT = `
local ends, order, sizes, bytes = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local key, tenant, size = ARGV[1], ARGV[4], tonumber(ARGV[5])
local tenant_limit, limit = tonumber(ARGV[6]), tonumber(ARGV[7])
local prefix = string.sub(KEYS[1], 1, -1 - #key)
local removals = 0

local function used(of)
  return tonumber(redis.call('HGET', bytes, of) or '0')
end

local function remove(old)
  removals = removals + 1
  redis.call('DEL', prefix .. old)
  local noted = redis.call('HGET', sizes, old)
  redis.call('ZREM', ends, old)
  redis.call('ZREM', order, old)
  redis.call('HDEL', sizes, old)
  if not noted then return end
  local owner, count = string.match(noted, '^(%S+) (%d+)$')
  redis.call('ZREM', order .. ':' .. owner, old)
  redis.call('HINCRBY', bytes, 'all', -count)
  if redis.call('HINCRBY', bytes, owner, -count) <= 0 then redis.call('HDEL', bytes, owner) end
end

local function make_room(list, of, most)
  while removals < 1000 and used(of) > most do
    local oldest = redis.call('ZRANGE', list, 0, 0)[1]
    if not oldest then
      redis.call('HDEL', bytes, of)
      return true
    end
    remove(oldest)
  end
  return used(of) <= most
end

local number = redis.pcall('HINCRBY', bytes, 'number', 1)
if type(number) == 'table' then
  make_room(order, 'all', math.floor(used('all') / 2))
  return number
end
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
for _, old in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now_ms, 'LIMIT', 0, 500)) do
  remove(old)
end
if redis.call('HEXISTS', sizes, key) == 1 then remove(key) end
if size > tenant_limit or size > limit then return 0 end
local own = order .. ':' .. tenant
if not make_room(own, tenant, tenant_limit - size) then return 0 end
if not make_room(order, 'all', limit - size) then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('ZADD', ends, now_ms + ARGV[3], key)
redis.call('ZADD', order, number, key)
redis.call('ZADD', own, number, key)
redis.call('HSET', sizes, key, tenant .. ' ' .. ARGV[5])
redis.call('HINCRBY', bytes, 'all', size)
redis.call('HINCRBY', bytes, tenant, size)
return 1
`;

interface RedisWithSet extends Redis {
  keepAnswer(...words: (string | Buffer | number)[]): Promise<number>;
}

/**
 * Keeps answers in Redis, for all instances. While Redis fails, nothing is found and nothing kept. Values are encrypted and bound to
 * their keys, so another writer to Redis cannot read answers, forge them or move them to another tenant.
 */
export class RedisCacheStore extends CacheStore implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(RedisCacheStore.name);
  private readonly redis: PausingRedis<RedisWithSet>;
  private maxBytes: number;
  private readonly keys: DerivedKeys;

  constructor(
    url: string,
    private readonly limits: CacheLimits,
    secrets: SecretSource,
  ) {
    super();
    this.keys = new DerivedKeys(secrets, 'cached-answer');
    this.maxBytes = limits.maxBytes;
    this.redis = new PausingRedis(url, {
      name: 'model-gateway-cache',
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      scripts: { keepAnswer: { lua: SET_SCRIPT, numberOfKeys: 1 + LISTS.length } },
      logger: this.logger,
      whenFailing: (reason) => `cache is unavailable: Redis fails (${reason})`,
      whenBack: 'cache is available again',
      onReady: (redis) => this.readMemoryRules(redis),
    });
  }

  onModuleInit(): Promise<void> {
    return this.redis.connect();
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }

  /** True while reads miss and writes are dropped. */
  get isDegraded(): boolean {
    return this.redis.isDegraded;
  }

  async get(key: string): Promise<Buffer | undefined> {
    const value = await this.redis.ask((redis) =>
      redis.getrangeBuffer(KEY_PREFIX + key, 0, LAST_BYTE),
    );
    return Buffer.isBuffer(value) && value.length > 0 ? this.open(value, key) : undefined;
  }

  set(tenantId: string, key: string, value: Buffer, ttlSeconds: number): void {
    const { maxBytesPerTenant } = this.limits;
    const bytes = value.length + ENTRY_OVERHEAD_BYTES;
    if (bytes > maxBytesPerTenant || bytes > this.maxBytes) return;
    const words = [
      key,
      encryptBytes(this.keys.current, value, key),
      ttlSeconds * 1000,
      tenantId,
      bytes,
      maxBytesPerTenant,
    ];
    void this.redis.ask((redis) =>
      redis.keepAnswer(KEY_PREFIX + key, ...LISTS, ...words, this.maxBytes),
    );
  }

  async bytesInUse(): Promise<number> {
    const bytes = await this.redis.ask((redis) => redis.hget('gateway:cache-bytes', 'all'));
    if (bytes === undefined) throw new Error('Redis does not report the size of the cache');
    return Number(bytes ?? 0);
  }

  /** Returns nothing for a value that no instance encrypted for this key. */
  private open(value: Buffer, key: string): Buffer | undefined {
    for (const secret of this.keys.all) {
      try {
        return decryptBytes(secret, value, key);
      } catch {
        // Another secret may fit.
      }
    }
    return undefined;
  }

  /**
   * Lowers the limit to a share of Redis's `maxmemory`, and warns when the eviction policy may drop
   * the queue's keys. Where Redis does not report them, the configured limits apply.
   */
  private async readMemoryRules(redis: Redis): Promise<void> {
    const info = await redis.info('memory');
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction';
    const limit = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0);
    this.maxBytes = this.limits.maxBytes;
    if (limit > 0) this.maxBytes = Math.min(this.maxBytes, Math.floor(limit * SHARE_OF_REDIS));
    if (policy !== 'noeviction') {
      this.logger.warn(
        `Redis has maxmemory-policy ${policy} and may drop wake-ups of the queue. Set it to noeviction. ` +
          'The cache enforces its own limit (GATEWAY_CACHE_MAX_BYTES)',
      );
    }
  }
}
