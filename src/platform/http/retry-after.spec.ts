import { describe, expect, it } from '@jest/globals';
import { DAY_MS } from '../time/dates.js';
import { readRetryAfterMs } from './retry-after.js';

const NOW_MS = Date.UTC(2026, 0, 1, 12, 0, 0);

describe(readRetryAfterMs.name, () => {
  it.each<[Record<string, string | string[]>, number | undefined]>([
    [{}, undefined],
    [{ 'retry-after': '5' }, 5_000],
    [{ 'retry-after': ' 5 ' }, 5_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after': ' ' }, undefined],
    [{ 'retry-after': '-1' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '999999999999' }, DAY_MS],
    [{ 'retry-after': 'Infinity' }, DAY_MS],
    [{ 'retry-after': ['7', '8'] }, 7_000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 12:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 11:59:30 GMT' }, undefined],
    [{ 'retry-after': 'Thu, 01 Jan 2099 12:00:00 GMT' }, DAY_MS],
    [{ 'retry-after-ms': '250' }, 250],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after-ms': '0', 'retry-after': '9' }, 9_000],
    [{ 'retry-after-ms': 'x', 'retry-after': '9' }, 9_000],
    [{ 'retry-after-ms': '999999999999' }, DAY_MS],
  ])('of %j is %p', (headers, expected) => {
    expect(readRetryAfterMs(headers, NOW_MS)).toBe(expected);
  });
});
