import { Module, type DynamicModule } from '@nestjs/common';
import { GraphileWorkQueue } from './graphile-work-queue.js';
import { WorkQueue } from './work-queue.js';

/** Provides the queue on the service's database. Loaded only without Redis. */
@Module({})
export class DatabaseQueueModule {
  static forRoot(databaseUrl: string): DynamicModule {
    return {
      module: DatabaseQueueModule,
      providers: [{ provide: WorkQueue, useFactory: () => new GraphileWorkQueue(databaseUrl) }],
      exports: [WorkQueue],
    };
  }
}
