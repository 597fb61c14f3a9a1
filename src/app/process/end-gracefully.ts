import { readFileSync } from 'node:fs';
import type { JsonLogger } from '../../platform/logging/json-logger.js';

/** A terminal that is closed says SIGHUP. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** How many promises were rejected without a handler since the process started. */
export const unhandledRejections = { count: 0 };

/**
 * A signal sooner after the first one is the same wish: Ctrl-C reaches every process of a terminal,
 * and npm passes its own on to the service besides.
 */
const SAME_WISH_MS = 1_000;

/** How a service that runs is closed. */
export interface WayToClose {
  close(): Promise<void>;
  /** Ends what is only done for the convenience of others. @returns false when there is nothing of it */
  hurry(): boolean;
}

/**
 * Closes on a signal, or on an uncaught exception, and ends the process: with status 0, or 1
 * after such an error or when not all could be closed. Until it is known how to close, while the
 * service is starting, there is nothing to wait for, and the process ends at once: by an exit, at
 * which an embedded database is told to end, not by the signal, which it would outlive.
 *
 * @param options.isWorker a worker gets Ctrl-C along with its primary process, which then tells it
 *   to stop as well; elsewhere a second signal, a second or more after the first, means to hurry, and
 *   where that is of no use not to wait any more
 * @returns takes the way to close, once the service runs
 */
export function endGracefully(
  logger: JsonLogger,
  options: { isWorker: boolean },
): (way: WayToClose) => void {
  let way: WayToClose | undefined;
  let stoppingSinceMs: number | undefined;
  let status = 0;
  const end = (): void => void logger.close().then(() => process.exit(status));
  const fail = (error: unknown, what: string): void => {
    logger.error(error, what);
    status = 1;
  };
  const stop = (): void => {
    if (stoppingSinceMs !== undefined) return;
    stoppingSinceMs = performance.now();
    const closed = way?.close() ?? Promise.resolve();
    void closed.catch((error: unknown) => fail(error, 'stop')).then(end);
  };
  const onSignal = (): void => {
    if (stoppingSinceMs === undefined) return stop();
    const nowMs = performance.now();
    if (nowMs - stoppingSinceMs < SAME_WISH_MS) return;
    if (way?.hurry()) stoppingSinceMs = nowMs;
    else if (!options.isWorker) {
      status = 1;
      end();
    }
  };
  for (const signal of SIGNALS) if (!isIgnored(signal)) process.on(signal, onSignal);
  // An uncaught exception leaves unknown state behind, which must not handle money.
  process.on('uncaughtException', (error: unknown) => {
    fail(error, 'uncaughtException');
    stop();
    way?.hurry();
  });
  // A rejected promise has unwound its own work. Bad input must not end every instance.
  process.on('unhandledRejection', (error: unknown) => {
    unhandledRejections.count++;
    logger.error(error, 'unhandledRejection');
  });
  // A worker does not outlive its primary process.
  if (options.isWorker) {
    process.on('disconnect', () => {
      stop();
      way?.hurry();
    });
  }
  return (known) => {
    way = known;
  };
}

/** Whether the process was started so that it outlives its terminal, as by `nohup`. */
function isIgnored(signal: (typeof SIGNALS)[number]): boolean {
  if (signal !== 'SIGHUP') return false;
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return (BigInt(`0x${mask ?? '0'}`) & 1n) === 1n;
  } catch {
    return false;
  }
}
