import cluster from 'node:cluster';
import { runWorkers } from './app/cluster.js';
import { describeStart, type StartDescription } from './app/bootstrap/describe-start.js';
import { loadSettings } from './app/load-settings.js';
import { ConfigError } from './platform/config/config-error.js';
import { JsonLogger } from './platform/logging/json-logger.js';
import { endGracefully } from './app/process/end-gracefully.js';
import { HeapGrowth, keepGarbageYoung } from './app/process/heap-growth.js';
import type { Gateway } from './app/gateway.js';
import { messageOf } from './platform/errors/thrown.js';

const logger = new JsonLogger();

const growth = new HeapGrowth();
keepGarbageYoung();
// Installed first, so that an interrupted start leaves no database running.
const onStop = endGracefully(logger, { isWorker: cluster.isWorker });

/** Resolves when the service listens. */
export const done = start();

async function start(): Promise<void> {
  try {
    const config = loadSettings();
    logger.setLevel(config.log.level);
    if (config.workers > 1 && cluster.isPrimary) {
      await runWorkers(config, logger, onStop);
    } else {
      // Imported after the heap limits are set, and not in a primary process, which does not need it.
      const { startGateway } = await import('./app/gateway.js');
      const gateway = await startGateway(config, logger);
      // With several workers, only the first prints warnings.
      if (cluster.isPrimary || cluster.worker?.id === 1) {
        for (const warning of gateway.warnings) process.stderr.write(`Warning: ${warning}\n`);
      }
      growth.control();
      // With several workers, the primary process prints the start message.
      if (cluster.isPrimary) process.stdout.write(describeStart(gateway));
      else process.send?.({ type: 'gateway:listening', ...describable(gateway) });
      onStop(gateway);
      // Every worker checks keys, since operators may ask any of them. Only the first prints the result.
      const isSpeaker = cluster.isPrimary || cluster.worker?.id === 1;
      gateway.checkKeys((lines) => void (isSpeaker && process.stdout.write(lines)));
      void gateway.settleIn();
    }
  } catch (error) {
    const reason = messageOf(error);
    process.stderr.write(`The gateway cannot start.\n${reason}\n`);
    if (!(error instanceof ConfigError)) logger.error(error, 'start');
    await logger.close();
    process.exit(1);
  }
}

/** Returns the data that the primary process needs for the start message, without functions. */
function describable(gateway: Gateway): StartDescription {
  const { url, host, bootstrap, providers, exampleModel, hasConsole } = gateway;
  return { url, host, bootstrap, providers, exampleModel, hasConsole };
}
