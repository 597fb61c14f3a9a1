import type { Redis } from 'ioredis';
import type { Topic } from './work-queue.js';

/** Prefix of the queue's keys in Redis. */
export const BULL_PREFIX = 'gateway-queue';

/** Outlives any work on a key; expires what a crash leaves behind. */
const TURN_MS = 24 * 3_600_000;
/** Well above the time Bull needs to remove a finished wake-up. */
const COUNT_MS = 3_600_000;

/**
 * A key is locked by the wake-up in progress: `turn` holds its id, valid while Bull's own lock on that wake-up
 * exists, so a dead worker loses both. `again` records that the key was woken meanwhile. `count` counts
 * finished wake-ups and is part of the next id: Bull refuses an id that it still holds, even one it is
 * about to remove.
 */
const HAS_LIVE_HOLDER = `
local holder = redis.call('GET', KEYS[1])
local alive = holder and redis.call('EXISTS', ARGV[1] .. holder .. ':lock') == 1
`;

/**
 * Returns -1 when the key's current worker will run again, else the count for a new wake-up id.
 *
 * A worker that got its wake-up from a Redis that then lost its data records progress in the new Redis and
 * leaves a wake-up without data there, in no list. Bull would refuse that id forever.
 */
const ASK_SCRIPT = `
${HAS_LIVE_HOLDER}
if alive then
  redis.call('SET', KEYS[2], '1', 'PX', ARGV[2])
  return -1
end
local count = tonumber(redis.call('GET', KEYS[3]) or '0')
local wake_up = ARGV[1] .. ARGV[3] .. ':' .. count
if redis.call('EXISTS', wake_up) == 1 and redis.call('HEXISTS', wake_up, 'data') == 0 then
  redis.call('DEL', wake_up)
end
return count
`;

const BEGIN_SCRIPT = `
${HAS_LIVE_HOLDER}
if alive and holder ~= ARGV[3] then
  redis.call('SET', KEYS[2], '1', 'PX', ARGV[2])
  return 0
end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[2])
redis.call('DEL', KEYS[2])
return 1
`;

const END_SCRIPT = `
redis.call('INCR', KEYS[3])
redis.call('PEXPIRE', KEYS[3], ARGV[2])
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return redis.call('DEL', KEYS[2])
`;

interface RedisWithTurns extends Redis {
  askForTurn(...keysAndValues: (string | number)[]): Promise<number>;
  beginTurn(...keysAndValues: (string | number)[]): Promise<number>;
  endTurn(...keysAndValues: (string | number)[]): Promise<number>;
}

/** Lets one worker at a time work on a key, across all instances. */
export class BullKeyLocks {
  private readonly redis: RedisWithTurns;

  constructor(redis: Redis) {
    redis.defineCommand('askForTurn', { lua: ASK_SCRIPT, numberOfKeys: 3 });
    redis.defineCommand('beginTurn', { lua: BEGIN_SCRIPT, numberOfKeys: 3 });
    redis.defineCommand('endTurn', { lua: END_SCRIPT, numberOfKeys: 3 });
    this.redis = redis as RedisWithTurns;
  }

  /** Returns the id for a new wake-up of the key; undefined when its current worker will run again. */
  async ask(topic: Topic, key: string): Promise<string | undefined> {
    const keys = keysOf(topic, key);
    const count = await this.redis.askForTurn(...keys, lockPrefix(topic), TURN_MS, key);
    return count < 0 ? undefined : `${key}:${count}`;
  }

  /** Returns false when another wake-up holds the key; its worker will run again. */
  async begin(topic: Topic, key: string, id: string): Promise<boolean> {
    const keys = keysOf(topic, key);
    return (await this.redis.beginTurn(...keys, lockPrefix(topic), TURN_MS, id)) === 1;
  }

  /** Returns whether the key was woken while the lock was held. */
  async end(topic: Topic, key: string, id: string): Promise<boolean> {
    return (await this.redis.endTurn(...keysOf(topic, key), id, COUNT_MS)) === 1;
  }
}

function keysOf(topic: Topic, key: string): string[] {
  return ['turn', 'again', 'count'].map((name) => `${BULL_PREFIX}-${name}:${topic}:${key}`);
}

/** Bull stores the lock of a wake-up under its id followed by `:lock`. */
function lockPrefix(topic: Topic): string {
  return `${BULL_PREFIX}:${topic}:`;
}
