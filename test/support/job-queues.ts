import { hasRedisServer, startTestRedis, type TestRedis } from './redis-server.js';

export interface JobQueue {
  name: string;
  /** Starts what the queue needs: a Redis, or nothing. `missing`: there is none to start here. */
  startRedis: (() => Promise<TestRedis | undefined>) | 'missing';
}

/** The two queues of the service, for suites that have to hold on both. */
export function jobQueues(): JobQueue[] {
  return [
    { name: 'the database', startRedis: async () => undefined },
    { name: 'Redis', startRedis: hasRedisServer() ? () => startTestRedis() : 'missing' },
  ];
}
