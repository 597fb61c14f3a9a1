import { BullModule } from '@nestjs/bull';
import { Global, Module, type DynamicModule } from '@nestjs/common';
import { BullConnections } from './bull-connections.js';
import { bullOptions } from './bull-options.js';
import { BullWorkQueue } from './bull-work-queue.js';
import { GraphileWorkQueue } from './graphile-work-queue.js';
import { QueueMetrics } from './queue-metrics.js';
import { TOPICS, WorkQueue } from './work-queue.js';

/** The queue: on Redis where there is one, else in the service's database. */
@Global()
@Module({})
export class QueueModule {
  static forRoot(config: { readonly redisUrl: string | undefined }, databaseUrl: string) {
    const { redisUrl } = config;
    return redisUrl === undefined ? onDatabase(databaseUrl) : onRedis(redisUrl);
  }
}

function onDatabase(url: string): DynamicModule {
  return {
    module: QueueModule,
    providers: [{ provide: WorkQueue, useFactory: () => new GraphileWorkQueue(url) }, QueueMetrics],
    exports: [WorkQueue],
  };
}

function onRedis(url: string): DynamicModule {
  const connections = new BullConnections(url);
  return {
    module: QueueModule,
    imports: [
      BullModule.forRoot(bullOptions(connections)),
      BullModule.registerQueue(...TOPICS.map((name) => ({ name }))),
    ],
    providers: [
      { provide: BullConnections, useValue: connections },
      { provide: WorkQueue, useClass: BullWorkQueue },
      QueueMetrics,
    ],
    exports: [WorkQueue],
  };
}
