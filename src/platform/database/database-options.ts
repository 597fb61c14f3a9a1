import pg, { type PoolConfig } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { DatabaseSessions } from './sessions.js';
import { SnakeNamingStrategy } from './snake-naming-strategy.js';

const INT8_OID = 20;

// Credits and counters are int8. Up to 2^53 they are exact as numbers, which is 9 billion USD.
pg.types.setTypeParser(INT8_OID, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 beyond 2^53: ${text}`);
  return value;
});

// A process that was stopped in mid-transaction must not keep others waiting.
export const TIME_LIMITS = '-c lock_timeout=5000 -c idle_in_transaction_session_timeout=5000';

/** For a session to open, or to come free; a request has to be answered within 5 s in any case. */
const CONNECT_LIMIT_MS = 3_000;

/**
 * The ledger's few statements are planned once per connection, which saves a sixth of what they cost. Each is about
 * a few rows that it finds by an index; without a word the planner, who guesses a hundred, reads all accounts
 * instead, as long as there are no more than some ten thousand, and goes on so after there are. Before version 18 a plan that
 * cannot do without such a scan counts as dear, for which code would be compiled each time.
 */
const LEDGER_PLANS =
  '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c random_page_cost=1 -c jit=off';

/** Twice so long is less than a hold waits: what shares a group with a locked account is admitted all the same. */
const LEDGER_LOCK_LIMIT = '-c lock_timeout=800';

/** Options of the pool that only the ledger uses: it never waits for a page of somebody's log. */
export function ledgerPoolOptions(url: string): PoolConfig {
  const options = {
    connectionString: url,
    application_name: 'model-gateway ledger',
    // Several statements of a transaction are on their way together.
    pipeline: true,
    options: `${LEDGER_PLANS} ${TIME_LIMITS} ${LEDGER_LOCK_LIMIT}`,
    max: 2,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    // The connections stay: what they have planned is of use as long as the process lives.
    idleTimeoutMillis: 0,
  };
  return options;
}

/**
 * TypeORM's options for a PostgreSQL URL, shared by the service, its commands and the tests. The sessions
 * are those of one data source.
 */
export function databaseOptions(url: string) {
  return {
    type: 'postgres',
    url,
    driver: new DatabaseSessions().driver,
    synchronize: false,
    namingStrategy: new SnakeNamingStrategy(),
    migrationsTransactionMode: 'each',
    // Ids come from PostgreSQL's own gen_random_uuid(); no extension has to be installed.
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    applicationName: 'model-gateway',
    extra: {
      options: TIME_LIMITS,
      // Longer than the pauses between sweeps, which would else open sessions anew each time.
      idleTimeoutMillis: 30_000,
    },
    poolSize: 10,
    connectTimeoutMS: CONNECT_LIMIT_MS,
  } satisfies DataSourceOptions;
}
