import { it } from '@jest/globals';
import { itWithRedis, startTestRedis, type TestRedis } from './redis-server.js';

export interface JobQueue {
  name: string;
  /** `it` for cases on this queue; skipped where there is no Redis. */
  it: typeof it | typeof it.skip;
  /** Starts what the queue needs: a Redis, or nothing. */
  startRedis: () => Promise<TestRedis | undefined>;
}

/** The service's two queues, for suites that apply to both. */
export function jobQueues(): [JobQueue, JobQueue] {
  return [
    { name: 'the database', it, startRedis: () => Promise.resolve(undefined) },
    { name: 'Redis', it: itWithRedis, startRedis: () => startTestRedis() },
  ];
}
