import { describe, expect, it } from '@jest/globals';
import { parsePrice, PRICE_SCALE, UNITS_PER_CREDIT } from './exact-pricing.js';

describe(parsePrice.name, () => {
  it.each<[string, bigint]>([
    ['0', 0n],
    ['0.000', 0n],
    ['1', 10n ** 18n],
    ['0.00000015', 150_000_000_000n],
    ['0.000000000000000001', 1n],
    ['123456789.123456789123456789', 123456789123456789123456789n],
    ['007', 7n * 10n ** 18n],
  ])('parses %s', (decimal, units) => {
    expect(parsePrice(decimal)).toBe(units);
  });

  it.each([
    '',
    ' 1',
    '1 ',
    '1\n',
    '-1',
    '+1',
    '.5',
    '1.',
    '1e-6',
    '0x1',
    '1,5',
    '1_000',
    'NaN',
    '１',
    '1234567890',
    '0.0000000000000000001',
  ])('rejects %j', (decimal) => {
    expect(parsePrice(decimal)).toBeUndefined();
  });

  it('uses a scale at which a credit is a millionth of a dollar', () => {
    expect(UNITS_PER_CREDIT * 1_000_000n).toBe(10n ** BigInt(PRICE_SCALE));
  });
});
