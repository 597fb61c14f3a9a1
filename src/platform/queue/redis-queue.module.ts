import { BullModule } from '@nestjs/bull';
import { Module, type DynamicModule } from '@nestjs/common';
import { GatewayMetrics } from '../metrics/gateway-metrics.js';
import { BullConnections } from './bull-connections.js';
import { BullWorkQueue } from './bull-work-queue.js';
import { TOPICS, WorkQueue } from './work-queue.js';
import type { QueueOptions } from 'bull';

/** Prefix of the queue's keys in Redis. */
const PREFIX = 'gateway-queue';

/** Provides the queue on Redis. Loaded only with Redis, since Bull takes several megabytes. */
@Module({})
export class RedisQueueModule {
  constructor(metrics: GatewayMetrics, connections: BullConnections) {
    metrics.trackRedis('queue', () => connections.isDegraded);
  }

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

/** Bull's settings, the same for every topic. */
function bullOptions(connections: BullConnections): QueueOptions {
  return {
    prefix: PREFIX,
    createClient: connections.create,
    defaultJobOptions: {
      removeOnComplete: true,
      removeOnFail: true,
    },
    settings: {
      // Redelivers within 10 s what a killed process was looking up.
      lockDuration: 5_000,
      lockRenewTime: 2_000,
      stalledInterval: 2_000,
      maxStalledCount: 10,
      guardInterval: 2_000,
      retryProcessDelay: 500,
    },
  };
}
