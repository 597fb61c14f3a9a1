import { it } from '@jest/globals';
import { itWithRedis, startTestRedis, type TestRedis } from './redis-server.js';

export interface JobQueue {
  name: string;
  /** For cases on this queue; they are left out where there is no Redis to start. */
  it: typeof it | typeof it.skip;
  /** Starts what the queue needs: a Redis, or nothing. */
  startRedis: () => Promise<TestRedis | undefined>;
}

/** The two queues of the service, for suites that have to hold on both. */
export function jobQueues(): [JobQueue, JobQueue] {
  return [
    { name: 'the database', it, startRedis: () => Promise.resolve(undefined) },
    { name: 'Redis', it: itWithRedis, startRedis: () => startTestRedis() },
  ];
}
