import { describe, expect, it } from '@jest/globals';
import { redactKeyLike } from './failed-answer.js';

describe(redactKeyLike.name, () => {
  it.each([
    ['invalid sk-ant-api03-abcdefgh1234.', 'invalid [redacted]'],
    ['Bearer abcdef.ghijkl', '[redacted]'],
    ['x AIzaSyA-1234567890abcdefghij y', 'x [redacted] y'],
    ['the field key_parameters is unknown', 'the field key_parameters is unknown'],
    ['temperature: too high', 'temperature: too high'],
  ])('makes %j %j', (text, hidden) => {
    expect(redactKeyLike(text)).toBe(hidden);
  });
});
