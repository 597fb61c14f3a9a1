import { describe, expect, it } from '@jest/globals';
import { retryDelayMs } from './work-queue.js';

describe(retryDelayMs.name, () => {
  it('doubles from one second to a minute, ten times', () => {
    const delays = Array.from({ length: 11 }, (_, index) => retryDelayMs(index + 1));
    const seconds = delays.map((delayMs) => delayMs && delayMs / 1000);
    expect(seconds).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60, undefined]);
  });
});
