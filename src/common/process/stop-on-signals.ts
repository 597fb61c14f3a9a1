import type { JsonLogger } from '../logging/json-logger.js';

/**
 * Closes on SIGTERM and SIGINT and ends the process.
 *
 * @param options.isWorker a worker gets Ctrl-C along with its primary process, which then tells it
 *   to stop as well; elsewhere a second signal means not to wait any more
 */
export function stopOnSignals(
  close: () => Promise<void>,
  logger: JsonLogger,
  options: { isWorker: boolean },
): void {
  let stopping = false;
  const end = (code: number): void => {
    logger.flush();
    process.exit(code);
  };
  const stop = (): void => {
    if (stopping) {
      if (!options.isWorker) end(1);
      return;
    }
    stopping = true;
    close().then(
      () => end(0),
      (error: unknown) => {
        logger.error(error, 'stop');
        end(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // A worker does not outlive its primary process.
  if (options.isWorker) process.on('disconnect', stop);
}
