import type { Redis } from 'ioredis';
import type { Topic } from './work-queue.js';

/** All keys of the queue in Redis begin with this. */
export const BULL_PREFIX = 'gateway-queue';

/** Longer than any work on a key; what a crash leaves behind is gone after that. */
const TURN_MS = 24 * 3_600_000;
/** By far longer than Bull needs to remove a wake-up that is done. */
const COUNT_MS = 3_600_000;

/**
 * A key's turn belongs to the wake-up that is worked on (`turn` holds its id), as long as that has
 * Bull's lock: a worker that died loses both. `again` says that the key was woken meanwhile.
 * `count` counts the turns that ended, and is a part of wake-ups' ids: Bull refuses the id of one
 * that it still has, also when that one's turn is over and it is only about to be removed.
 */
const HAS_LIVE_HOLDER = `
local holder = redis.call('GET', KEYS[1])
local alive = holder and redis.call('EXISTS', ARGV[1] .. holder .. ':lock') == 1
`;

/**
 * Gives -1 when the key's worker will be woken again, else the count for a new wake-up's id.
 *
 * A worker that was handed a wake-up by a Redis which then lost everything notes in the new one when it
 * began, and so leaves a wake-up there without data, in no list. Bull would refuse its id for ever.
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

/** Sees to it that a key is worked on by one worker at a time, over all instances. */
export class BullTurns {
  private readonly redis: RedisWithTurns;

  constructor(redis: Redis) {
    redis.defineCommand('askForTurn', { lua: ASK_SCRIPT, numberOfKeys: 3 });
    redis.defineCommand('beginTurn', { lua: BEGIN_SCRIPT, numberOfKeys: 3 });
    redis.defineCommand('endTurn', { lua: END_SCRIPT, numberOfKeys: 3 });
    this.redis = redis as RedisWithTurns;
  }

  /**
   * The id for a new wake-up of the key; undefined when none is needed, because the worker that has
   * its turn has been told.
   */
  async ask(topic: Topic, key: string): Promise<string | undefined> {
    const keys = keysOf(topic, key);
    const count = await this.redis.askForTurn(...keys, lockPrefix(topic), TURN_MS, key);
    return count < 0 ? undefined : `${key}:${count}`;
  }

  /** False when another wake-up has the key's turn; its worker has been told. */
  async begin(topic: Topic, key: string, id: string): Promise<boolean> {
    const keys = keysOf(topic, key);
    return (await this.redis.beginTurn(...keys, lockPrefix(topic), TURN_MS, id)) === 1;
  }

  /** Whether the key was woken during the turn. */
  async end(topic: Topic, key: string, id: string): Promise<boolean> {
    return (await this.redis.endTurn(...keysOf(topic, key), id, COUNT_MS)) === 1;
  }
}

function keysOf(topic: Topic, key: string): string[] {
  return ['turn', 'again', 'count'].map((name) => `${BULL_PREFIX}-${name}:${topic}:${key}`);
}

/** Bull keeps the lock of a wake-up under its id, followed by `:lock`. */
function lockPrefix(topic: Topic): string {
  return `${BULL_PREFIX}:${topic}:`;
}
