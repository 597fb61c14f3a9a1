import { Global, Module, type DynamicModule } from '@nestjs/common';

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
