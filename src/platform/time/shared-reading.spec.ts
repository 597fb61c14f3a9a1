import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { sharedReading } from './shared-reading.js';

describe(sharedReading.name, () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('shares one reading among concurrent callers and for a while after', async () => {
    let readings = 0;
    let end: (reading: number) => void = () => undefined;
    const read = sharedReading(250, () => {
      readings++;
      return new Promise<number>((resolve) => (end = resolve));
    });
    const asked = [read(), read()];
    jest.advanceTimersByTime(10_000);
    asked.push(read());
    end(1);
    expect(await Promise.all(asked)).toEqual([1, 1, 1]);
    jest.advanceTimersByTime(249);
    expect(await read()).toBe(1);
    expect(readings).toBe(1);

    jest.advanceTimersByTime(1);
    const anew = read();
    expect(readings).toBe(2);
    end(2);
    expect(await anew).toBe(2);
  });

  it('reads again after a failure, and no sooner', async () => {
    let readings = 0;
    const read = sharedReading(250, () => Promise.reject(new Error(`${++readings}`)));
    await expect(read()).rejects.toThrow('1');
    await expect(read()).rejects.toThrow('1');
    jest.advanceTimersByTime(250);
    await expect(read()).rejects.toThrow('2');
  });
});
