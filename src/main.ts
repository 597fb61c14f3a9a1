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
// From the beginning, so that a start that is broken off leaves no database behind.
const onStop = endGracefully(logger, { isWorker: cluster.isWorker });

/** Ends when the service listens. */
export const done = start();

async function start(): Promise<void> {
  try {
    const config = loadSettings();
    logger.setLevel(config.log.level);
    if (config.workers > 1 && cluster.isPrimary) {
      await runWorkers(config, logger, onStop);
    } else {
      // Loaded when the heap grows as it should, and not by a primary process, which needs none of it.
      const { startGateway } = await import('./app/gateway.js');
      const gateway = await startGateway(config, logger);
      // Of several workers, the first speaks for all.
      if (cluster.isPrimary || cluster.worker?.id === 1) {
        for (const warning of gateway.warnings) process.stderr.write(`Warning: ${warning}\n`);
      }
      growth.control();
      // Of several workers, the primary process speaks for all.
      if (cluster.isPrimary) process.stdout.write(describeStart(gateway));
      else process.send?.({ type: 'gateway:listening', ...describable(gateway) });
      onStop(gateway);
      // Each worker checks for what it is asked by operators; the first speaks for all again.
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

/** What the primary needs to speak for this worker: plain data only. */
function describable(gateway: Gateway): StartDescription {
  const { url, host, bootstrap, providers, exampleModel, hasConsole } = gateway;
  return { url, host, bootstrap, providers, exampleModel, hasConsole };
}
