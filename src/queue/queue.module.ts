import { Module } from '@nestjs/common';
import { InProcessWorkQueue } from './in-process-work-queue.js';
import { WorkQueue } from './work-queue.js';

@Module({
  providers: [{ provide: WorkQueue, useClass: InProcessWorkQueue }],
  exports: [WorkQueue],
})
export class QueueModule {}
