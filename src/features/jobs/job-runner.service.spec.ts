import { describe, expect, it } from '@jest/globals';
import { nextPollMs } from './job-runner.service.js';

describe(nextPollMs.name, () => {
  it.each([
    [2_000, 0, 2_000],
    [2_000, 1, 2_500],
    [2_000, 12, 29_104],
    [2_000, 13, 30_000],
    [2_000, 1_000_000, 30_000],
    [60_000, 5, 60_000],
  ])('from %d ms after %d polls is %d ms', (firstMs, polls, expected) => {
    expect(nextPollMs(firstMs, polls)).toBe(expected);
  });
});
