import { describe, expect, it } from '@jest/globals';
import { utcMonthOf } from './dates.js';

describe(utcMonthOf.name, () => {
  it.each([
    ['2026-03-01T00:00:00.000Z', '2026-03-01', '2026-04-01'],
    ['2026-02-28T23:59:59.999Z', '2026-02-01', '2026-03-01'],
    ['2026-12-31T23:59:59.999Z', '2026-12-01', '2027-01-01'],
    // March in the local offset, April in UTC.
    ['2026-03-31T22:30:00.000-05:00', '2026-04-01', '2026-05-01'],
  ])('holds %s from %s to before %s', (instant, start, end) => {
    expect(utcMonthOf(new Date(instant))).toEqual({ start: new Date(start), end: new Date(end) });
  });
});
