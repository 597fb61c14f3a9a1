import { describe, expect, it } from '@jest/globals';
import { standsAt } from './event-text.js';

describe(standsAt.name, () => {
  it.each([
    ['abcabc', 'abc', 0],
    ['abcabc', 'abc', 3],
    ['abcabc', 'bc', 3],
    ['abcabc', 'abc', 4],
    ['abcabc', 'abc', 6],
    ['abcabc', 'abd', 0],
    ['', 'a', 0],
    ['abc', '', 1],
  ])('tells of %j and %j at %d what startsWith tells', (text, part, offset) => {
    expect(standsAt(text, part, offset)).toBe(text.startsWith(part, offset));
  });
});
