import cluster, { type Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import type { BootstrapOutcome } from './bootstrap/bootstrap-outcome.js';
import { describeStart, type StartDescription } from './bootstrap/describe-start.js';
import type { AppConfig } from './common/config/app-config.js';
import { gatewaySecret } from './common/config/gateway-secret.js';
import { migrateDatabase } from './common/database/migrate-database.js';
import { openDatabase } from './common/database/open-database.js';
import type { JsonLogger } from './common/logging/json-logger.js';
import { stopOnSignals } from './common/process/stop-on-signals.js';
import { serveClusterMetrics } from './operations/cluster-metrics.js';

/** A worker that dies is replaced after this pause, so that one that cannot start does not spin. */
const RESTART_AFTER_MS = 1_000;

type WorkerStart = StartDescription & { type: 'gateway:listening'; bootstrap: BootstrapOutcome };

/**
 * The primary process of `WORKERS` > 1: owns the database, starts the workers and replaces those
 * that die. The workers share the port.
 */
export async function runWorkers(config: AppConfig, logger: JsonLogger): Promise<void> {
  const database = await openDatabase(config);
  await migrateDatabase(database.url);
  serveClusterMetrics();
  const environment = { DATABASE_URL: database.url, GATEWAY_SECRET: gatewaySecret(config) };

  let stopping = false;
  let announced = false;
  const fork = (): void => {
    const worker = cluster.fork(environment);
    worker.on('message', (message: Partial<WorkerStart>) => {
      // The first worker is the one that made the first keys, if any were made.
      if (message.type !== 'gateway:listening' || announced) return;
      announced = true;
      process.stdout.write(describeStart(message as WorkerStart));
    });
    worker.once('exit', (code, signal) => {
      if (stopping) return;
      logger.error(`A worker ended (${signal ?? code}) and is replaced.`, 'cluster');
      void wait(RESTART_AFTER_MS).then(() => {
        if (!stopping) fork();
      });
    });
  };

  // The first one alone, so that it is the one to make the first tenant.
  fork();
  await new Promise<void>((resolve) => cluster.once('listening', () => resolve()));
  for (let count = 1; count < config.workers; count++) fork();

  stopOnSignals(
    async () => {
      stopping = true;
      await Promise.all(Object.values(cluster.workers ?? {}).map(stopWorker));
      await database.stop();
    },
    logger,
    { isWorker: false },
  );
}

function stopWorker(worker: Worker | undefined): Promise<void> {
  if (!worker || worker.isDead()) return Promise.resolve();
  return new Promise((resolve) => {
    worker.once('exit', () => resolve());
    worker.process.kill('SIGTERM');
  });
}
