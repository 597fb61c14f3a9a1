import { loadSettings } from './app/load-settings.js';
import { ConfigError } from './platform/config/config-error.js';
import { JsonLogger } from './platform/logging/json-logger.js';
import { endGracefully } from './app/process/end-gracefully.js';
import { HeapGrowth, keepGarbageYoung } from './app/process/heap-growth.js';
import { messageOf } from './platform/errors/thrown.js';

/** `npm run start:worker`: runs only background work, next to gateways on the same database. */
const logger = new JsonLogger();

const growth = new HeapGrowth();
keepGarbageYoung();
const onStop = endGracefully(logger, { isWorker: false });

/** Resolves when the worker listens. */
export const done = start();

async function start(): Promise<void> {
  try {
    const config = loadSettings();
    logger.setLevel(config.log.level);
    if (config.databaseUrl === undefined) {
      throw new ConfigError(['DATABASE_URL must be set for a worker']);
    }
    // Imported after the heap limits are set.
    const { startGateway } = await import('./app/gateway.js');
    const worker = await startGateway({ ...config, queue: { consume: true } }, logger, {
      role: 'worker',
    });
    growth.control();
    for (const warning of worker.warnings) process.stderr.write(`Warning: ${warning}\n`);
    process.stdout.write(`\nModel Gateway's worker listens on ${worker.url}\n\n`);
    onStop(worker);
    void worker.settleIn();
  } catch (error) {
    const reason = messageOf(error);
    process.stderr.write(`The worker cannot start.\n${reason}\n`);
    if (!(error instanceof ConfigError)) logger.error(error, 'start');
    await logger.close();
    process.exit(1);
  }
}
