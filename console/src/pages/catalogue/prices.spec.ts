import { isPrice, tellPrice } from './prices';

describe('tellPrice', () => {
  it.each([
    ['prompt', '0.0000025', '$2.50 per 1M tokens'],
    ['prompt', '0.00000007', '$0.07 per 1M tokens'],
    ['request', '0', '$0.00 each'],
    ['video_second', '0.125', '$0.125 a second'],
    ['image', undefined, '–'],
    ['image', 'abc', '–'],
  ] as const)('tells the price of %s, %j, as %j', (name, price, text) => {
    expect(tellPrice(name, price)).toBe(text);
  });
});

describe('isPrice', () => {
  it('takes decimals, and neither signs nor exponents', () => {
    expect(['0', '0.0000025', '12'].every(isPrice)).toBe(true);
    expect(['', '-1', '1e-6', '.5', '1.', 'abc'].some(isPrice)).toBe(false);
  });
});
