import cluster, { type Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import type { BootstrapOutcome } from './bootstrap/bootstrap.service.js';
import { describeStart, type StartDescription } from './bootstrap/describe-start.js';
import type { AppConfig } from '../platform/config/app-config.js';
import { gatewaySecrets, secretFileOf } from '../platform/config/gateway-secret.js';
import { migrateDatabase } from '../platform/database/migrate-database.js';
import { openDatabase } from '../platform/database/open-database.js';
import type { JsonLogger } from '../platform/logging/json-logger.js';
import { MIGRATIONS } from './migrations.js';
import { serveClusterMetrics } from './operations/cluster-metrics.js';

/** A worker that dies is replaced after this pause, so that one that cannot start does not spin. */
const RESTART_AFTER_MS = 1_000;

type WorkerStart = StartDescription & { type: 'gateway:listening'; bootstrap: BootstrapOutcome };

/**
 * The primary process of `WORKERS` > 1: owns the database, starts the workers and replaces those
 * that die. The workers share the port.
 */
export async function runWorkers(
  config: AppConfig,
  logger: JsonLogger,
  onStop: (close: () => Promise<void>) => void,
): Promise<void> {
  const database = await openDatabase(config);
  await migrateDatabase(database.url, MIGRATIONS);
  serveClusterMetrics();
  // Made here, once. The workers read the file too, so that they hear of it when it changes.
  gatewaySecrets(config);
  const environment = {
    DATABASE_URL: database.url,
    // Where the URL was read from a file, it is set already.
    DATABASE_URL_FILE: '',
    ...(config.secret === undefined && { GATEWAY_SECRET_FILE: secretFileOf(config) }),
  };

  let stopping = false;
  let announced = false;
  const fork = (): Worker => {
    const worker = cluster.fork(environment);
    worker.on('message', (message: unknown) => {
      // The first worker is the one that made the first keys, if any were made.
      if (announced || !isWorkerStart(message)) return;
      announced = true;
      process.stdout.write(describeStart(message));
    });
    worker.once('exit', (code, signal) => {
      // One that never listened is the first: what stops it would stop every next one.
      if (stopping || !announced) return;
      logger.error(`A worker ended (${signal ?? code}) and is replaced.`, 'cluster');
      void wait(RESTART_AFTER_MS).then(() => {
        if (!stopping) fork();
      });
    });
    return worker;
  };

  onStop(async () => {
    stopping = true;
    await Promise.all(Object.values(cluster.workers ?? {}).map(stopWorker));
    await database.stop();
  });

  // The first one alone: it makes the first tenant, and shows whether a worker can start at all.
  if (!(await listens(fork()))) {
    // Told to stop meanwhile, which ends the process.
    if (stopping) return;
    stopping = true;
    await database.stop();
    if (!process.exitCode) throw new Error('The first worker could not start; see its message.');
    return;
  }
  for (let count = 1; count < config.workers; count++) fork();
}

/** Resolves when a worker listens, or with false when it ended before. */
function listens(worker: Worker): Promise<boolean> {
  return new Promise((resolve) => {
    worker.once('listening', () => resolve(true));
    worker.once('exit', () => resolve(false));
  });
}

function stopWorker(worker: Worker | undefined): Promise<void> {
  if (!worker || worker.isDead()) return Promise.resolve();
  return new Promise((resolve) => {
    worker.once('exit', () => resolve());
    worker.process.kill('SIGTERM');
  });
}

/** Workers tell of their metrics as well. */
function isWorkerStart(message: unknown): message is WorkerStart {
  return (
    typeof message === 'object' &&
    message !== null &&
    'type' in message &&
    message.type === 'gateway:listening'
  );
}
