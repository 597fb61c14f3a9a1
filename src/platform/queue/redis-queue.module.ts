import { BullModule } from '@nestjs/bull';
import { Module, type DynamicModule } from '@nestjs/common';
import { BullConnections } from './bull-connections.js';
import { bullOptions } from './bull-options.js';
import { BullWorkQueue } from './bull-work-queue.js';
import { TOPICS, WorkQueue } from './work-queue.js';

/** The queue on Redis. Loaded only where there is one, since Bull takes some megabytes. */
@Module({})
export class RedisQueueModule {
  static forRoot(redisUrl: string): DynamicModule {
    const connections = new BullConnections(redisUrl);
    return {
      module: RedisQueueModule,
      imports: [
        BullModule.forRoot(bullOptions(connections)),
        BullModule.registerQueue(...TOPICS.map((name) => ({ name }))),
      ],
      providers: [
        { provide: BullConnections, useValue: connections },
        { provide: WorkQueue, useClass: BullWorkQueue },
      ],
      exports: [WorkQueue],
    };
  }
}
