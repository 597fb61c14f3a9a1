import pg, { type PoolConfig } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { DatabaseSessions } from './sessions.js';
import { SnakeNamingStrategy } from './snake-naming-strategy.js';

const INT8_OID = 20;

// Credits and counters are int8. JavaScript numbers are exact up to 2^53, which is 9 billion USD.
pg.types.setTypeParser(INT8_OID, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 beyond 2^53: ${text}`);
  return value;
});

// A process that is stopped in mid-transaction must not block others.
export const TIME_LIMITS = '-c lock_timeout=5000 -c idle_in_transaction_session_timeout=5000';

/** For opening a session or waiting for a free one; requests are answered within 5 s in any case. */
const CONNECT_LIMIT_MS = 3_000;

/**
 * The ledger's few statements are planned once per connection, which saves a sixth of their cost. Each touches a few rows
 * by index. Without these settings the planner, which guesses a hundred rows, scans the accounts table while it has up
 * to some ten thousand rows, and keeps that plan as the table grows. Before PostgreSQL 18 a plan that needs such a scan
 * counts as so expensive that JIT would compile it on every execution.
 */
const LEDGER_PLANS =
  '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c random_page_cost=1 -c jit=off';

/** Twice this is less than a hold waits, so requests grouped with a locked account are still admitted. */
const LEDGER_LOCK_LIMIT = '-c lock_timeout=800';

/** Returns the options of the ledger's own pool, which never waits for reads such as a page of the log. */
export function ledgerPoolOptions(url: string): PoolConfig {
  const options = {
    connectionString: url,
    application_name: 'model-gateway ledger',
    // Sends the statements of a transaction without waiting in between.
    pipeline: true,
    options: `${LEDGER_PLANS} ${TIME_LIMITS} ${LEDGER_LOCK_LIMIT}`,
    max: 2,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    // Connections stay open, to keep their plans.
    idleTimeoutMillis: 0,
  };
  return options;
}

/**
 * Returns TypeORM's options for a PostgreSQL URL, shared by the service, its commands and the tests.
 * Each call creates sessions for one data source.
 */
export function databaseOptions(url: string) {
  return {
    type: 'postgres',
    url,
    driver: new DatabaseSessions().driver,
    synchronize: false,
    namingStrategy: new SnakeNamingStrategy(),
    migrationsTransactionMode: 'each',
    // Ids come from PostgreSQL's gen_random_uuid(), which needs no extension.
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    applicationName: 'model-gateway',
    extra: {
      options: TIME_LIMITS,
      // Longer than the interval between sweeps, which would otherwise open a new session each time.
      idleTimeoutMillis: 30_000,
    },
    poolSize: 10,
    connectTimeoutMS: CONNECT_LIMIT_MS,
  } satisfies DataSourceOptions;
}
