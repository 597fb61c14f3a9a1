import { describe, expect, it, jest } from '@jest/globals';
import { readAllowance } from './account-allowance.js';
import { allowanceReaderOf } from './vendors.js';

describe(readAllowance.name, () => {
  it('reads the remainder and the reset time in every duration format', () => {
    const read = (reset: string) =>
      readAllowance({
        'x-ratelimit-limit-tokens': '40000',
        'x-ratelimit-remaining-tokens': '18000',
        'x-ratelimit-reset-tokens': reset,
      })?.tokens?.resetMs;
    expect(read('6m0s')).toBe(360_000);
    expect(read('12ms')).toBe(12);
    expect(read('1h2m3.5s')).toBe(3_723_500);
    expect(read('34')).toBe(34_000);
    expect(read('1d')).toBe(86_400_000);
  });

  it('reads requests and tokens separately, with the limit when present', () => {
    expect(
      readAllowance({
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '2s',
        'x-ratelimit-limit-tokens': '100',
        'x-ratelimit-remaining-tokens': '7',
        'x-ratelimit-reset-tokens': '1s',
      }),
    ).toEqual({
      requests: { left: 0, resetMs: 2_000 },
      tokens: { left: 7, limit: 100, resetMs: 1_000 },
    });
  });

  it.each([
    [{}],
    [{ 'x-ratelimit-remaining-requests': '5' }],
    [{ 'x-ratelimit-remaining-requests': '-1', 'x-ratelimit-reset-requests': '1s' }],
    [{ 'x-ratelimit-remaining-requests': 'many', 'x-ratelimit-reset-requests': '1s' }],
    [{ 'x-ratelimit-remaining-requests': '5', 'x-ratelimit-reset-requests': 'soon' }],
    [{ 'x-ratelimit-remaining-requests': '5', 'x-ratelimit-reset-requests': '1s2' }],
  ])('returns undefined for %j', (headers) => {
    expect(readAllowance(headers)).toBeUndefined();
  });

  it('reads a vendor-specific header set with timestamps as resets', () => {
    jest.useFakeTimers({ now: new Date('2026-11-01T00:00:00Z') });
    try {
      const family = (what: string, left: string, reset: string) => ({
        [`anthropic-ratelimit-${what}-limit`]: '1000',
        [`anthropic-ratelimit-${what}-remaining`]: left,
        [`anthropic-ratelimit-${what}-reset`]: reset,
      });
      const read = allowanceReaderOf({ adapter: 'anthropic' });
      expect(
        read({
          ...family('requests', '0', '2026-11-01T00:00:30Z'),
          ...family('tokens', '900', '2026-11-01T00:00:05Z'),
          ...family('input-tokens', '400', '2026-11-01T00:00:10Z'),
          ...family('output-tokens', '100', '2026-11-01T00:00:20Z'),
        }),
      ).toEqual({
        requests: { left: 0, limit: 1_000, resetMs: 30_000 },
        tokens: { left: 400, limit: 1_000, resetMs: 10_000 },
      });
      const used = { ...family('output-tokens', '0', '2026-11-01T00:00:20Z') };
      expect(read(used)?.tokens).toEqual({ left: 0, limit: 1_000, resetMs: 20_000 });
      expect(read(family('requests', '1', 'tomorrow'))).toBeUndefined();
      expect(read({})).toBeUndefined();
    } finally {
      jest.useRealTimers();
    }
  });
});
