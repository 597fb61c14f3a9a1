import { ConsoleLogger } from '@nestjs/common';
import { describeStart } from './bootstrap/describe-start.js';
import { ConfigError } from './common/config/config-error.js';
import { loadConfig } from './common/config/load-config.js';
import { processEnvironment } from './common/config/process-environment.js';
import { startGateway, type Gateway } from './gateway.js';

const logger = new ConsoleLogger({ logLevels: ['warn', 'error', 'fatal'] });

try {
  const gateway = await startGateway(loadConfig(processEnvironment()), logger);
  process.stdout.write(describeStart(gateway));
  stopOnSignals(gateway);
} catch (error) {
  const lines = error instanceof ConfigError ? error.message : describe(error);
  process.stderr.write(`The gateway cannot start.\n${lines}\n`);
  process.exit(1);
}

// What one request breaks must not take the others with it.
process.on('uncaughtException', (error) =>
  logger.error(`Uncaught: ${error.stack ?? error.message}`),
);
process.on('unhandledRejection', (reason) =>
  logger.error(`Unhandled rejection: ${describe(reason)}`),
);

/** The first signal drains, a second one does not wait any more. */
function stopOnSignals(gateway: Gateway): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    gateway.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`The gateway did not stop cleanly: ${describe(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
