import cluster, { type Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import type { BootstrapOutcome } from './bootstrap/bootstrap.service.js';
import { describeStart, type StartDescription } from './bootstrap/describe-start.js';
import type { WayToClose } from './process/end-gracefully.js';
import type { AppConfig } from '../platform/config/app-config.js';
import { gatewaySecrets, secretFileOf } from '../platform/config/gateway-secret.js';
import { migrateDatabase } from '../platform/database/migrate-database.js';
import { openDatabase } from '../platform/database/open-database.js';
import type { JsonLogger } from '../platform/logging/json-logger.js';
import { MIGRATIONS } from '../platform/database/migrations.js';
import { serveClusterMetrics } from './operations/cluster-metrics.js';

/** Delay before a dead worker is replaced, so that one that cannot start does not spin. */
const RESTART_AFTER_MS = 1_000;

/** How long a worker may take to close after its drain: its own limit, and time to write its log. */
const CLOSE_LIMIT_MS = 5_500;

type WorkerStart = StartDescription & { type: 'gateway:listening'; bootstrap: BootstrapOutcome };

/**
 * Runs the primary process for `WORKERS` > 1: owns the database, starts the workers and replaces
 * those that die. The workers share the port.
 */
export async function runWorkers(
  config: AppConfig,
  logger: JsonLogger,
  onStop: (way: WayToClose) => void,
): Promise<void> {
  const database = await openDatabase(config, (line) => logger.warn(line, 'database'));
  await migrateDatabase(database.url, MIGRATIONS);
  serveClusterMetrics();
  // Creates the secret once. Workers also read its file, so that they notice changes.
  gatewaySecrets(config);
  const environment = {
    DATABASE_URL: database.url,
    // The URL may have been read from a file, and setting both is an error.
    DATABASE_URL_FILE: '',
    ...(config.secret === undefined && { GATEWAY_SECRET_FILE: secretFileOf(config) }),
  };

  let stopping = false;
  let announced = false;
  const fork = (): Worker => {
    const worker = cluster.fork(environment);
    worker.on('message', (message: unknown) => {
      // The first worker is the one that created the first keys, if any.
      if (announced || !isWorkerStart(message)) return;
      announced = true;
      process.stdout.write(describeStart(message));
    });
    worker.once('exit', (code, signal) => {
      // If the first worker never listened, its replacements would fail the same way.
      if (stopping || !announced) return;
      logger.error(`A worker exited (${signal ?? code}) and is replaced.`, 'cluster');
      void wait(RESTART_AFTER_MS).then(() => {
        if (!stopping) fork();
      });
    });
    return worker;
  };

  const { lameDuckSeconds, drainSeconds } = config;
  let lameDuckEndsAtMs = 0;
  onStop({
    async close() {
      stopping = true;
      lameDuckEndsAtMs = performance.now() + lameDuckSeconds * 1_000;
      const limitMs = (lameDuckSeconds + drainSeconds) * 1_000 + CLOSE_LIMIT_MS;
      const ends = workersNow().map((worker) => stopWorker(worker, limitMs));
      const areClean = await Promise.all(ends);
      await database.stop();
      if (areClean.includes(false)) throw new Error('A worker did not stop cleanly; see the log.');
    },
    hurry() {
      if (performance.now() >= lameDuckEndsAtMs) return false;
      lameDuckEndsAtMs = 0;
      for (const worker of workersNow()) worker.process.kill('SIGTERM');
      return true;
    },
  });

  // Starts one worker first: it creates the first tenant and shows whether workers can start at all.
  if (!(await listens(fork()))) {
    // A stop signal arrived during the start; `close` ends the process.
    if (stopping) return;
    stopping = true;
    await database.stop();
    if (!process.exitCode) throw new Error('The first worker could not start; see its message.');
    return;
  }
  for (let count = 1; count < config.workers; count++) fork();
}

/** Resolves to true when a worker listens, or to false when it exits before. */
function listens(worker: Worker): Promise<boolean> {
  return new Promise((resolve) => {
    worker.once('listening', () => resolve(true));
    worker.once('exit', () => resolve(false));
  });
}

function workersNow(): Worker[] {
  const workers = Object.values(cluster.workers ?? {});
  return workers.filter((worker) => worker !== undefined).filter((worker) => !worker.isDead());
}

/** Stops a worker, by force after the limit. @returns whether it stopped cleanly */
function stopWorker(worker: Worker, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const force = setTimeout(() => worker.process.kill('SIGKILL'), limitMs);
    worker.once('exit', (code, signal) => {
      clearTimeout(force);
      // A worker killed before it handles signals has nothing to clean up.
      resolve(code === 0 || signal === 'SIGTERM');
    });
    worker.process.kill('SIGTERM');
  });
}

/** Workers also send messages about metrics. */
function isWorkerStart(message: unknown): message is WorkerStart {
  return (
    typeof message === 'object' &&
    message !== null &&
    'type' in message &&
    message.type === 'gateway:listening'
  );
}
