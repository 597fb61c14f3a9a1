import pg from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';

/** Runs TypeORM's queries on an executor that the caller opens and closes. */
class ExecutorQueryRunner extends PostgresQueryRunner {
  constructor(driver: PostgresDriver, executor: object) {
    super(driver, 'master');
    this.databaseConnection = executor;
    // Within a transaction, TypeORM's own transactions become savepoints.
    this.isTransactionActive = executor instanceof pg.Client;
    this.transactionDepth = this.isTransactionActive ? 1 : 0;
  }
}

/** Returns an entity manager whose queries go through `executor`. */
export function executorManager(dataSource: DataSource, executor: object): EntityManager {
  const runner = new ExecutorQueryRunner(dataSource.driver as PostgresDriver, executor);
  const manager = dataSource.createEntityManager(runner);
  return Object.assign(runner, { manager }).manager;
}
