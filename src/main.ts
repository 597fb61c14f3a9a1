import cluster from 'node:cluster';
import { runWorkers } from './app/cluster.js';
import { describeStart, type StartDescription } from './app/bootstrap/describe-start.js';
import { ConfigError } from './platform/config/config-error.js';
import { loadConfig } from './platform/config/load-config.js';
import { processEnvironment } from './platform/config/process-environment.js';
import { JsonLogger } from './platform/logging/json-logger.js';
import { controlHeapGrowth } from './app/process/heap-growth.js';
import { stopOnSignals } from './app/process/stop-on-signals.js';
import { keepGarbageYoung } from './app/process/young-garbage.js';
import { startGateway, type Gateway } from './app/gateway.js';

const logger = new JsonLogger();

// What one request breaks must not take the others with it.
process.on('uncaughtException', (error) => logger.error(error, 'uncaughtException'));
process.on('unhandledRejection', (reason) => logger.error(reason, 'unhandledRejection'));

keepGarbageYoung();
// From the beginning, so that a start that is broken off leaves no database behind.
const onStop = stopOnSignals(logger, { isWorker: cluster.isWorker });

try {
  const config = loadConfig(processEnvironment());
  if (config.workers > 1 && cluster.isPrimary) {
    await runWorkers(config, logger, onStop);
  } else {
    const gateway = await startGateway(config, logger);
    controlHeapGrowth();
    // Of several workers, the primary process speaks for all.
    if (cluster.isPrimary) process.stdout.write(describeStart(gateway));
    else process.send?.({ type: 'gateway:listening', ...describable(gateway) });
    onStop(() => gateway.close());
  }
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`The gateway cannot start.\n${reason}\n`);
  if (!(error instanceof ConfigError)) logger.error(error, 'start');
  await logger.close();
  process.exit(1);
}

/** What the primary needs to speak for this worker: plain data only. */
function describable({ url, bootstrap, providers, exampleModel }: Gateway): StartDescription {
  return { url, bootstrap, providers, exampleModel };
}
