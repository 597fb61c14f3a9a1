import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { JsonLogger } from '../../platform/logging/json-logger.js';
import { unhandledRejections, endGracefully, type WayToClose } from './end-gracefully.js';

const error = jest.fn();
const logger = { close: () => Promise.resolve(), error } as unknown as JsonLogger;
const EVENTS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'uncaughtException', 'unhandledRejection'] as const;

/** A way to close a service without a lame duck period. */
const by = (close: () => Promise<void>, hurry = (): boolean => false): WayToClose => ({
  close,
  hurry,
});

const untilClosed = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe(endGracefully.name, () => {
  const exit = jest.spyOn(process, 'exit');
  const now = jest.spyOn(performance, 'now');
  const before = new Map(EVENTS.map((event) => [event, process.rawListeners(event)]));

  beforeEach(() => {
    exit.mockImplementation((() => undefined) as typeof process.exit);
    now.mockReturnValue(1_000);
  });
  afterEach(() => {
    jest.resetAllMocks();
    for (const event of EVENTS) {
      for (const listener of process.rawListeners(event)) {
        if (!before.get(event)?.includes(listener)) process.off(event, listener as () => void);
      }
    }
  });

  const signalAt = (ms: number, signal: 'SIGTERM' | 'SIGINT' | 'SIGHUP'): void => {
    now.mockReturnValue(ms);
    process.emit(signal);
  };

  it('ignores duplicate signals within a second and stops waiting at a later one', async () => {
    const close = jest.fn(() => new Promise<void>(() => undefined));
    endGracefully(logger, { isWorker: false })(by(close));
    signalAt(5_000, 'SIGINT');
    signalAt(5_010, 'SIGINT');
    signalAt(5_999, 'SIGTERM');
    expect(exit).not.toHaveBeenCalled();
    signalAt(6_000, 'SIGINT');
    await untilClosed();
    expect(exit).toHaveBeenCalledWith(1);
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('hurries at the second signal when that helps and exits at the third', async () => {
    const hurry = jest
      .fn(() => true)
      .mockReturnValueOnce(true)
      .mockReturnValue(false);
    endGracefully(logger, { isWorker: false })(by(() => new Promise(() => undefined), hurry));
    signalAt(5_000, 'SIGTERM');
    signalAt(5_500, 'SIGTERM');
    expect(hurry).not.toHaveBeenCalled();
    signalAt(6_500, 'SIGTERM');
    // npm forwards its own signal.
    signalAt(6_510, 'SIGTERM');
    await untilClosed();
    expect(hurry).toHaveBeenCalledTimes(1);
    expect(exit).not.toHaveBeenCalled();
    signalAt(7_500, 'SIGTERM');
    await untilClosed();
    expect(exit).toHaveBeenCalledWith(1);
  });

  it('keeps a cluster worker running, because its primary process stops it', () => {
    endGracefully(logger, { isWorker: true })(by(() => new Promise(() => undefined)));
    signalAt(5_000, 'SIGINT');
    signalAt(9_000, 'SIGTERM');
    expect(exit).not.toHaveBeenCalled();
  });

  it('exits while the service is still starting', async () => {
    endGracefully(logger, { isWorker: false });
    signalAt(5_000, 'SIGTERM');
    await untilClosed();
    expect(exit).toHaveBeenCalledWith(0);
  });

  it.each([
    [() => Promise.resolve(), 0],
    [() => Promise.reject(new Error('no')), 1],
  ])('exits once everything is closed', async (close, code) => {
    endGracefully(logger, { isWorker: false })(by(close));
    signalAt(5_000, 'SIGTERM');
    await untilClosed();
    expect(exit).toHaveBeenCalledWith(code);
  });

  it('drains when its terminal closes', async () => {
    const close = jest.fn(() => Promise.resolve());
    endGracefully(logger, { isWorker: false })(by(close));
    signalAt(5_000, 'SIGHUP');
    await untilClosed();
    expect(close).toHaveBeenCalledTimes(1);
    expect(exit).toHaveBeenCalledWith(0);
  });

  it('logs, drains and exits with status 1 once after an uncaught exception', async () => {
    const failure = 'uncaughtException';
    let finish = (): void => undefined;
    const close = jest.fn(() => new Promise<void>((resolve) => (finish = resolve)));
    const hurry = jest.fn(() => true);
    endGracefully(logger, { isWorker: true })(by(close, hurry));
    const emit = (words: string): void => {
      const [own] = process
        .rawListeners(failure)
        .filter((listener) => !before.get(failure)?.includes(listener));
      (own as (error: Error) => void)(new Error(words));
    };
    emit('first');
    emit('while stopping');
    expect(error.mock.calls).toEqual([
      [new Error('first'), failure],
      [new Error('while stopping'), failure],
    ]);
    expect(close).toHaveBeenCalledTimes(1);
    expect(hurry).toHaveBeenCalled();
    await untilClosed();
    expect(exit).not.toHaveBeenCalled();
    finish();
    await untilClosed();
    expect(exit.mock.calls).toEqual([[1]]);
  });

  it('counts and logs an unhandled rejection and keeps running', async () => {
    const close = jest.fn(() => Promise.resolve());
    endGracefully(logger, { isWorker: false })(by(close));
    const { count } = unhandledRejections;
    const listeners = process.rawListeners('unhandledRejection') as ((error: Error) => void)[];
    listeners.at(-1)?.(new Error('bad input'));
    await untilClosed();
    expect(error.mock.calls).toEqual([[new Error('bad input'), 'unhandledRejection']]);
    expect(unhandledRejections.count).toBe(count + 1);
    expect([close.mock.calls, exit.mock.calls]).toEqual([[], []]);
  });

  it('exits with status 1 when something fails while stopping', async () => {
    let finish = (): void => undefined;
    endGracefully(logger, { isWorker: false })(
      by(() => new Promise<void>((resolve) => (finish = resolve))),
    );
    signalAt(5_000, 'SIGTERM');
    const listeners = process.rawListeners('uncaughtException') as ((error: Error) => void)[];
    listeners.at(-1)?.(new Error('late'));
    finish();
    await untilClosed();
    expect(exit.mock.calls).toEqual([[1]]);
  });
});
