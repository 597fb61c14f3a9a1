import { Global, Module, type DynamicModule, Injectable } from '@nestjs/common';
import { GatewayMetrics } from '../metrics/gateway-metrics.js';
import { TOPICS, WorkQueue } from './work-queue.js';

/** Reports the queue's depth, and nothing while the queue is unavailable. */
@Injectable()
class QueueMetrics {
  constructor(metrics: GatewayMetrics, queue: WorkQueue) {
    metrics.trackShared(
      'gateway_queue_depth',
      'Wake-ups for workers, of all instances together.',
      ['topic', 'state'],
      async () => {
        const depths = await queue.depths();
        return TOPICS.flatMap((topic) => {
          const states = Object.entries({ ...depths[topic] });
          return states.map(([state, value]) => ({ labels: { topic, state }, value }));
        });
      },
    );
  }
}

/** Provides the queue: on Redis when configured, else on the service's database. */
@Global()
@Module({})
export class QueueModule {
  static async forRoot(
    { redisUrl }: { readonly redisUrl: string | undefined },
    databaseUrl: string,
  ): Promise<DynamicModule> {
    const queue = await (redisUrl === undefined
      ? loadDatabaseQueue(databaseUrl)
      : loadRedisQueue(redisUrl));
    return {
      module: QueueModule,
      imports: [queue],
      providers: [QueueMetrics],
      exports: [queue],
    };
  }
}

async function loadDatabaseQueue(databaseUrl: string): Promise<DynamicModule> {
  const { DatabaseQueueModule } = await import('./database-queue.module.js');
  return DatabaseQueueModule.forRoot(databaseUrl);
}

async function loadRedisQueue(redisUrl: string): Promise<DynamicModule> {
  const { RedisQueueModule } = await import('./redis-queue.module.js');
  return RedisQueueModule.forRoot(redisUrl);
}
