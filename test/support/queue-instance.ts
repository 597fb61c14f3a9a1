import { Test } from '@nestjs/testing';
import { MetricsModule } from '../../src/platform/metrics/metrics.module.js';
import { QueueModule } from '../../src/platform/queue/queue.module.js';
import { WorkQueue } from '../../src/platform/queue/work-queue.js';

/** The location of a queue. */
export interface QueuePlace {
  redisUrl: string | undefined;
  databaseUrl: string;
}

export interface QueueInstance {
  queue: WorkQueue;
  close(): Promise<void>;
}

/** Opens a queue like one instance of the service. */
export async function openQueue({ redisUrl, databaseUrl }: QueuePlace): Promise<QueueInstance> {
  const module = await Test.createTestingModule({
    imports: [MetricsModule, QueueModule.forRoot({ redisUrl }, databaseUrl)],
  }).compile();
  await module.init();
  const queue = module.get(WorkQueue, { strict: false });
  return {
    queue,
    async close() {
      await queue.stop();
      await module.close();
    },
  };
}
