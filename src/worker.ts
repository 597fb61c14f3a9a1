import { ConfigError } from './platform/config/config-error.js';
import { loadConfig } from './platform/config/load-config.js';
import { processEnvironment } from './platform/config/process-environment.js';
import { JsonLogger } from './platform/logging/json-logger.js';
import { controlHeapGrowth } from './app/process/heap-growth.js';
import { stopOnSignals } from './app/process/stop-on-signals.js';
import { keepGarbageYoung } from './app/process/young-garbage.js';
import { startGateway } from './app/gateway.js';

/** `npm run start:worker`: the background work alone, beside gateways on the same database. */
const logger = new JsonLogger();

// What one piece of work breaks must not take the others with it.
process.on('uncaughtException', (error) => logger.error(error, 'uncaughtException'));
process.on('unhandledRejection', (reason) => logger.error(reason, 'unhandledRejection'));

keepGarbageYoung();
const onStop = stopOnSignals(logger, { isWorker: false });

try {
  const config = loadConfig(processEnvironment());
  if (config.databaseUrl === undefined) {
    throw new ConfigError(['DATABASE_URL must be set for a worker']);
  }
  const worker = await startGateway({ ...config, queue: { consume: true } }, logger, {
    role: 'worker',
  });
  controlHeapGrowth();
  process.stdout.write(`\nModel Gateway's worker listens on ${worker.url}\n\n`);
  onStop(() => worker.close());
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`The worker cannot start.\n${reason}\n`);
  if (!(error instanceof ConfigError)) logger.error(error, 'start');
  await logger.close();
  process.exit(1);
}
