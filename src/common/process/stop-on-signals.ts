import type { JsonLogger } from '../logging/json-logger.js';

/**
 * A signal sooner after the first one is the same wish: Ctrl-C reaches every process of a terminal,
 * and npm passes its own on to the service besides.
 */
const SAME_WISH_MS = 1_000;

/**
 * Closes on SIGTERM and SIGINT and ends the process.
 *
 * @param options.isWorker a worker gets Ctrl-C along with its primary process, which then tells it
 *   to stop as well; elsewhere a second signal, a second or more after the first, means not to wait
 *   any more
 */
export function stopOnSignals(
  close: () => Promise<void>,
  logger: JsonLogger,
  options: { isWorker: boolean },
): void {
  let stoppingSinceMs: number | undefined;
  const end = (code: number): void => {
    logger.flush();
    process.exit(code);
  };
  const stop = (): void => {
    const nowMs = performance.now();
    if (stoppingSinceMs !== undefined) {
      if (!options.isWorker && nowMs - stoppingSinceMs >= SAME_WISH_MS) end(1);
      return;
    }
    stoppingSinceMs = nowMs;
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
