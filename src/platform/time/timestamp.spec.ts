import { describe, expect, it } from '@jest/globals';
import { Timestamp, msSince } from './timestamp.js';

describe(Timestamp.name, () => {
  it.each([3_600_000, -3_600_000])(
    'measures elapsed time although the clock was set by %d ms',
    (byMs) => {
      const earlier = new Timestamp({ now: () => 5_000, monotonicMs: () => 20 });
      const later = new Timestamp({ now: () => 5_000 + byMs, monotonicMs: () => 50.4 });
      expect(later.msSince(earlier)).toBe(30);
      expect(later.getTime()).toBe(5_000 + byMs);
    },
  );

  it('falls back to the wall clock for plain dates', () => {
    const passedMs = msSince(new Date(Date.now() - 60_000));
    expect(passedMs).toBeGreaterThanOrEqual(60_000);
    expect(passedMs).toBeLessThan(120_000);
  });
});
