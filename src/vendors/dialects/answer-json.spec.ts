import { describe, expect, it } from '@jest/globals';
import { readTokenCount } from './answer-json.js';

describe('readTokenCount', () => {
  it.each([0, 1, 1_000_000_000])('takes %d', (count) => {
    expect(readTokenCount(count)).toBe(count);
  });

  it.each([-1, 1.5, 1_000_000_001, Infinity, NaN, '5', null, undefined, [5], { count: 5 }])(
    'takes %p for nonsense',
    (value) => {
      expect(readTokenCount(value)).toBeUndefined();
    },
  );
});
