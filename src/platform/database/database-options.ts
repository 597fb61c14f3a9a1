import pg, { type PoolConfig } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { CreateFoundation1763700000000 } from '../../../migrations/1763700000000-create-foundation.js';
import { CreateStoredResponses1763800000000 } from '../../../migrations/1763800000000-create-stored-responses.js';
import { CreateGuardrails1763860000000 } from '../../../migrations/1763860000000-create-guardrails.js';
import { CreateRequestLogRollUps1764100000000 } from '../../../migrations/1764100000000-create-request-log-roll-ups.js';
import { CreateSpendLimits1764100100000 } from '../../../migrations/1764100100000-create-spend-limits.js';
import { CreateJobs1764200000000 } from '../../../migrations/1764200000000-create-jobs.js';
import { CreateWebhookDeliveries1764200100000 } from '../../../migrations/1764200100000-create-webhook-deliveries.js';
import { CreateProviderCredentials1764200200000 } from '../../../migrations/1764200200000-create-provider-credentials.js';
import { CreateBroadcast1764200300000 } from '../../../migrations/1764200300000-create-broadcast.js';
import { NameItemsOfStoredResponses1764250500000 } from '../../../migrations/1764250500000-name-items-of-stored-responses.js';
import { IndexRareLedgerEntries1764250600000 } from '../../../migrations/1764250600000-index-rare-ledger-entries.js';
import { ShareBodiesOfBroadcasts1764250700000 } from '../../../migrations/1764250700000-share-bodies-of-broadcasts.js';
import { TraceJobs1764260000000 } from '../../../migrations/1764260000000-trace-jobs.js';
import { MarkEndedTraces1764270100000 } from '../../../migrations/1764270100000-mark-ended-traces.js';
import { LogTimedOutAnswers1764300000000 } from '../../../migrations/1764300000000-log-timed-out-answers.js';
import { ShareWhatIsAvailable1764310000000 } from '../../../migrations/1764310000000-share-what-is-available.js';
import { IndexOpenJobs1764330000000 } from '../../../migrations/1764330000000-index-open-jobs.js';
import { ShareKeysLimits1764340000000 } from '../../../migrations/1764340000000-share-keys-limits.js';
import { DeleteVideos1764360000000 } from '../../../migrations/1764360000000-delete-videos.js';
import { CreateWebhookSecrets1764340100000 } from '../../../migrations/1764340100000-create-webhook-secrets.js';
import { CreateConversations1764370000000 } from '../../../migrations/1764370000000-create-conversations.js';
import { CreateBackgroundResponses1764370100000 } from '../../../migrations/1764370100000-create-background-responses.js';

const INT8_OID = 20;

// Credits and counters are int8. Up to 2^53 they are exact as numbers, which is 9 billion USD.
pg.types.setTypeParser(INT8_OID, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 beyond 2^53: ${text}`);
  return value;
});

/** Every migration, oldest first. */
export const MIGRATIONS = [
  CreateFoundation1763700000000,
  CreateStoredResponses1763800000000,
  CreateGuardrails1763860000000,
  CreateRequestLogRollUps1764100000000,
  CreateSpendLimits1764100100000,
  CreateJobs1764200000000,
  CreateWebhookDeliveries1764200100000,
  CreateProviderCredentials1764200200000,
  CreateBroadcast1764200300000,
  NameItemsOfStoredResponses1764250500000,
  IndexRareLedgerEntries1764250600000,
  ShareBodiesOfBroadcasts1764250700000,
  TraceJobs1764260000000,
  MarkEndedTraces1764270100000,
  LogTimedOutAnswers1764300000000,
  ShareWhatIsAvailable1764310000000,
  IndexOpenJobs1764330000000,
  ShareKeysLimits1764340000000,
  CreateWebhookSecrets1764340100000,
  DeleteVideos1764360000000,
  CreateConversations1764370000000,
  CreateBackgroundResponses1764370100000,
];

// A process that was stopped in mid-transaction must not keep others waiting.
const TIME_LIMITS = '-c lock_timeout=5000 -c idle_in_transaction_session_timeout=5000';

/**
 * Options of the pool that only the ledger's few statements use: they are planned once per
 * connection, which saves a sixth of what they cost, and never wait for a page of somebody's log.
 */
export function ledgerPoolOptions(url: string): PoolConfig {
  const options = {
    connectionString: url,
    application_name: 'model-gateway ledger',
    // Several statements of a transaction are on their way together.
    pipeline: true,
    options: `-c plan_cache_mode=force_generic_plan ${TIME_LIMITS}`,
    max: 2,
    connectionTimeoutMillis: 5_000,
    // The connections stay: what they have planned is of use as long as the process lives.
    idleTimeoutMillis: 0,
  };
  return options;
}

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
      options: TIME_LIMITS,
    },
    poolSize: 10,
    connectTimeoutMS: 5_000,
  } satisfies DataSourceOptions;
}
