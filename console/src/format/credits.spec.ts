import { describe, expect, it } from '@jest/globals';
import { formatExact } from './credits';

describe('formatExact', () => {
  it.each([
    ['0', '0'],
    ['1234.5006', '1,234.5006'],
    ['-1234567', '-1,234,567'],
    ['9007199254740993.1', '9,007,199,254,740,993.1'],
    ['n/a', 'n/a'],
  ])('formats %s as %s', (amount, written) => {
    expect(formatExact(amount)).toBe(written);
  });
});
