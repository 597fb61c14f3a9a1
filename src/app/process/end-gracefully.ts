import { readFileSync } from 'node:fs';
import type { JsonLogger } from '../../platform/logging/json-logger.js';

/** SIGHUP is sent when a terminal closes. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** Number of unhandled promise rejections since the process started. */
export const unhandledRejections = { count: 0 };

/**
 * A signal this soon after the first one is a duplicate: Ctrl-C reaches every process of a terminal,
 * and npm forwards its own to the service.
 */
const DUPLICATE_MS = 1_000;

/** How to close a running service. */
export interface WayToClose {
  close(): Promise<void>;
  /** Skips optional waiting. @returns false when there is none */
  hurry(): boolean;
}

/**
 * Closes the service on a signal or an uncaught exception and ends the process: with status 0, or 1
 * after such an exception or when something could not be closed. While the service is starting,
 * there is nothing to close and the process exits at once. It exits rather than dying of the signal,
 * because an embedded database is stopped by the exit handler and would outlive a signal.
 *
 * @param options.isWorker a worker receives Ctrl-C along with its primary process, which then also
 *   stops it. Elsewhere a second signal, a second or more after the first, skips optional waiting,
 *   or all waiting if there is nothing optional
 * @returns takes the way to close once the service runs
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
    if (nowMs - stoppingSinceMs < DUPLICATE_MS) return;
    if (way?.hurry()) stoppingSinceMs = nowMs;
    else if (!options.isWorker) {
      status = 1;
      end();
    }
  };
  for (const signal of SIGNALS) if (!isIgnored(signal)) process.on(signal, onSignal);
  // An uncaught exception leaves unknown state, which must not handle money.
  process.on('uncaughtException', (error: unknown) => {
    fail(error, 'uncaughtException');
    stop();
    way?.hurry();
  });
  // A rejected promise has unwound its own work. Bad input must not stop every instance.
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

/** Returns whether the process was started to outlive its terminal, e.g. by `nohup`. */
function isIgnored(signal: (typeof SIGNALS)[number]): boolean {
  if (signal !== 'SIGHUP') return false;
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return (BigInt(`0x${mask ?? '0'}`) & 1n) === 1n;
  } catch {
    return false;
  }
}
