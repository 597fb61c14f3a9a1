import { isPrice, formatPriceWithUnit } from './prices';

describe('formatPriceWithUnit', () => {
  it.each([
    ['prompt', '0.0000025', '$2.50 per 1M tokens'],
    ['prompt', '0.00000007', '$0.07 per 1M tokens'],
    ['request', '0', '$0.00 each'],
    ['video_second', '0.125', '$0.125 per second'],
    ['image', undefined, '–'],
    ['image', 'abc', '–'],
  ] as const)('formats %s of %j as %j', (name, price, text) => {
    expect(formatPriceWithUnit(name, price)).toBe(text);
  });
});

describe('isPrice', () => {
  it('accepts decimals without sign or exponent', () => {
    expect(['0', '0.0000025', '12'].every(isPrice)).toBe(true);
    expect(['', '-1', '1e-6', '.5', '1.', 'abc'].some(isPrice)).toBe(false);
  });
});
