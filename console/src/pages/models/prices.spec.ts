import { describe, expect, it } from '@jest/globals';
import { perMillion, pricesOf, shiftDecimal } from './prices';

describe(shiftDecimal, () => {
  it.each([
    ['0.00000015', 6, '0.15'],
    ['0.000003', 6, '3.00'],
    ['0.0000000375', 6, '0.0375'],
    ['0', 6, '0.00'],
    ['12', 3, '12,000.00'],
    ['1.5', 0, '1.50'],
    ['0.04', 0, '0.04'],
    ['2.345', 0, '2.345'],
  ])('multiplies %s by 10^%i to exactly %s', (decimal, power, expected) => {
    expect(shiftDecimal(decimal, power)).toBe(expected);
  });
});

describe(pricesOf, () => {
  it('omits zero prices and returns the unit of each', () => {
    const free = { prompt: '0', completion: '0.0', request: '0', image: '0' };
    expect(pricesOf(free)).toEqual([]);
    expect(pricesOf({ ...free, prompt: '0.0000025', audio_minute: '0.006' })).toEqual([
      { label: 'Input', unit: '1M tokens', usd: '$2.50', credits: '2,500,000' },
      { label: 'Audio', unit: 'minute', usd: '$0.006', credits: '6,000' },
    ]);
    expect(perMillion('0.00')).toBeUndefined();
    expect(perMillion('0.00001')).toEqual({ usd: '$10.00', credits: '10,000,000' });
    expect(perMillion('0.0000000000125')).toEqual({ usd: '$0.0000125', credits: '12.50' });
  });
});
