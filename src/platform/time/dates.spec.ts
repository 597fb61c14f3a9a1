import { describe, expect, it } from '@jest/globals';
import { startOfUtcDay } from './dates.js';

describe('startOfUtcDay', () => {
  it.each([
    ['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T23:59:59.999Z', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T00:30:00.000+01:00', '2026-02-28T00:00:00.000Z'],
    ['1969-12-31T12:00:00.000Z', '1969-12-31T00:00:00.000Z'],
  ])('of %s is %s', (instant, start) => {
    expect(startOfUtcDay(new Date(instant)).toISOString()).toBe(start);
  });
});
