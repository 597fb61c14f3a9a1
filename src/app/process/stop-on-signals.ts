import type { JsonLogger } from '../../platform/logging/json-logger.js';

/**
 * A signal sooner after the first one is the same wish: Ctrl-C reaches every process of a terminal,
 * and npm passes its own on to the service besides.
 */
const SAME_WISH_MS = 1_000;

/**
 * Closes on SIGTERM and SIGINT and ends the process. Until it is known how to close, while the
 * service is starting, there is nothing to wait for, and the process ends at once: by an exit, at
 * which an embedded database is told to end, not by the signal, which it would outlive.
 *
 * @param options.isWorker a worker gets Ctrl-C along with its primary process, which then tells it
 *   to stop as well; elsewhere a second signal, a second or more after the first, means not to wait
 *   any more
 * @returns takes the way to close, once the service runs
 */
export function stopOnSignals(
  logger: JsonLogger,
  options: { isWorker: boolean },
): (close: () => Promise<void>) => void {
  let close: (() => Promise<void>) | undefined;
  let stoppingSinceMs: number | undefined;
  const end = (code: number): void => void logger.close().then(() => process.exit(code));
  const stop = (): void => {
    const nowMs = performance.now();
    if (stoppingSinceMs !== undefined) {
      if (!options.isWorker && nowMs - stoppingSinceMs >= SAME_WISH_MS) end(1);
      return;
    }
    stoppingSinceMs = nowMs;
    (close?.() ?? Promise.resolve()).then(
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
  return (way) => {
    close = way;
  };
}
