import { describe, expect, it } from '@jest/globals';
import { hideVendorKeys } from './failed-answer.js';

describe(hideVendorKeys.name, () => {
  it.each([
    ['invalid sk-ant-api03-abcdefgh1234.', 'invalid [redacted]'],
    ['Bearer abcdef.ghijkl', '[redacted]'],
    ['x AIzaSyA-1234567890abcdefghij y', 'x [redacted] y'],
    ['the field key_parameters is unknown', 'the field key_parameters is unknown'],
    ['temperature: too high', 'temperature: too high'],
  ])('makes %j %j', (text, hidden) => {
    expect(hideVendorKeys(text)).toBe(hidden);
  });
});
