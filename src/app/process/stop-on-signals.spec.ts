import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { JsonLogger } from '../../platform/logging/json-logger.js';
import { stopOnSignals } from './stop-on-signals.js';

const logger = { close: () => Promise.resolve(), error: () => undefined } as unknown as JsonLogger;

const untilClosed = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe(stopOnSignals.name, () => {
  const exit = jest.spyOn(process, 'exit');
  const now = jest.spyOn(performance, 'now');
  const before = process.listeners('SIGTERM').length;

  beforeEach(() => void exit.mockImplementation((() => undefined) as typeof process.exit));
  afterEach(() => {
    jest.resetAllMocks();
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      for (const listener of process.listeners(signal).slice(before)) {
        process.off(signal, listener);
      }
    }
  });

  const signalAt = (ms: number, signal: 'SIGTERM' | 'SIGINT'): void => {
    now.mockReturnValue(ms);
    process.emit(signal);
  };

  it('takes signals within a second for one, and a later one for impatience', async () => {
    const close = jest.fn(() => new Promise<void>(() => undefined));
    stopOnSignals(logger, { isWorker: false })(close);
    signalAt(5_000, 'SIGINT');
    signalAt(5_010, 'SIGINT');
    signalAt(5_999, 'SIGTERM');
    expect(exit).not.toHaveBeenCalled();
    signalAt(6_000, 'SIGINT');
    await untilClosed();
    expect(exit).toHaveBeenCalledWith(1);
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('lets a worker of several go on, which its primary process ends', () => {
    stopOnSignals(logger, { isWorker: true })(() => new Promise(() => undefined));
    signalAt(5_000, 'SIGINT');
    signalAt(9_000, 'SIGTERM');
    expect(exit).not.toHaveBeenCalled();
  });

  it('ends a process that is still starting', async () => {
    stopOnSignals(logger, { isWorker: false });
    signalAt(5_000, 'SIGTERM');
    await untilClosed();
    expect(exit).toHaveBeenCalledWith(0);
  });

  it.each([
    [() => Promise.resolve(), 0],
    [() => Promise.reject(new Error('no')), 1],
  ])('ends the process when all is closed', async (close, code) => {
    stopOnSignals(logger, { isWorker: false })(close);
    signalAt(5_000, 'SIGTERM');
    await untilClosed();
    expect(exit).toHaveBeenCalledWith(code);
  });
});
