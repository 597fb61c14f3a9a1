import pg from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { CreateFoundation1763700000000 } from '../../../migrations/1763700000000-create-foundation.js';
import { CreateStoredResponses1763800000000 } from '../../../migrations/1763800000000-create-stored-responses.js';

const INT8_OID = 20;

// Credits and counters are int8. Up to 2^53 they are exact as numbers, which is 9 billion USD.
pg.types.setTypeParser(INT8_OID, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 beyond 2^53: ${text}`);
  return value;
});

/** Every migration, oldest first. */
export const MIGRATIONS = [CreateFoundation1763700000000, CreateStoredResponses1763800000000];

/** TypeORM's options for a PostgreSQL URL, shared by the service, its commands and the tests. */
export function databaseOptions(url: string) {
  return {
    type: 'postgres',
    url,
    synchronize: false,
    migrations: MIGRATIONS,
    migrationsTransactionMode: 'each',
    // Ids come from PostgreSQL's own gen_random_uuid(); no extension has to be installed.
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    applicationName: 'model-gateway',
    extra: {
      // The ledger sends the statements of a transaction together instead of one round trip each.
      pipeline: true,
      // A process that was stopped in mid-transaction must not keep others waiting.
      options: '-c lock_timeout=5000 -c idle_in_transaction_session_timeout=5000',
    },
    poolSize: 10,
    connectTimeoutMS: 5_000,
  } satisfies DataSourceOptions;
}
