import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SweepTimer } from './sweep-timer.js';

describe(SweepTimer.name, () => {
  let onFailure: jest.Mock<(error: Error) => void>;

  beforeEach(() => {
    jest.useFakeTimers();
    onFailure = jest.fn();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('runs at once and then every interval, or after the first interval', async () => {
    for (const [method, atOnce] of [
      ['start', 1],
      ['startLater', 0],
    ] as const) {
      const work = jest.fn(() => Promise.resolve());
      const timer = new SweepTimer(work, onFailure);
      timer[method](1_000);
      expect(work).toHaveBeenCalledTimes(atOnce);
      await jest.advanceTimersByTimeAsync(2_000);
      expect(work).toHaveBeenCalledTimes(atOnce + 2);
      await timer.stop();
    }
  });

  it('starts no round while one is running', async () => {
    let end = (): void => undefined;
    const work = jest.fn(() => new Promise<void>((resolve) => (end = resolve)));
    const timer = new SweepTimer(work, onFailure);
    timer.start(1_000);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(work).toHaveBeenCalledTimes(1);
    end();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(work).toHaveBeenCalledTimes(2);
    end();
    await timer.stop();
  });

  it('continues after a failure and reports it', async () => {
    const failure = new Error('no database');
    const work = jest.fn(() => Promise.reject(failure));
    const timer = new SweepTimer(work, onFailure);
    timer.start(1_000);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(onFailure.mock.calls).toEqual([[failure], [failure]]);
    await timer.stop();
  });

  it('waits for the running round when stopped and starts no other', async () => {
    let end = (): void => undefined;
    const work = jest.fn(() => new Promise<void>((resolve) => (end = resolve)));
    const timer = new SweepTimer(work, onFailure);
    timer.start(1_000);
    expect(timer.isStopped).toBe(false);
    let isOver = false;
    const stopped = timer.stop().then(() => (isOver = true));
    expect(timer.isStopped).toBe(true);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(isOver).toBe(false);
    end();
    await stopped;
    expect(work).toHaveBeenCalledTimes(1);
    expect(jest.getTimerCount()).toBe(0);
  });
});
