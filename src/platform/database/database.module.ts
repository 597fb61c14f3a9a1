import { Global, Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { InstallationEntity } from './installation.entity.js';
import { databaseOptions } from './database-options.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { Database } from './database.js';
import { DatabaseMetrics } from './database-metrics.js';
import { DatabaseNotices } from './database-notices.js';
import { DueWork } from './due-work.js';

/** Provides the connection pool of a migrated database. */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot(url: string): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        MetricsModule,
        TypeOrmModule.forRoot({
          ...databaseOptions(url),
          autoLoadEntities: true,
          retryAttempts: 3,
          retryDelay: 1000,
        }),
        TypeOrmModule.forFeature([InstallationEntity]),
      ],
      providers: [Database, DatabaseMetrics, DatabaseNotices, DueWork],
      exports: [Database, DatabaseNotices, DueWork],
    };
  }
}
