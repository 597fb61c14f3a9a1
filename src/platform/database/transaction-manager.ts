import type { Client } from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';

/** Runs TypeORM's queries on a client whose transaction the caller ends. */
class ClientQueryRunner extends PostgresQueryRunner {
  constructor(driver: PostgresDriver, client: Client) {
    super(driver, 'master');
    this.databaseConnection = client;
    this.isTransactionActive = true;
    // Transactions that TypeORM begins are savepoints.
    this.transactionDepth = 1;
  }
}

/** Returns the entity manager of the transaction that is open on `client`. */
export function transactionManager(dataSource: DataSource, client: Client): EntityManager {
  const runner = new ClientQueryRunner(dataSource.driver as PostgresDriver, client);
  const manager = dataSource.createEntityManager(runner);
  return Object.assign(runner, { manager }).manager;
}
