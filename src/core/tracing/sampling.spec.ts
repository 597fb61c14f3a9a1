import { describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { isSampled } from './sampling.js';

describe(isSampled.name, () => {
  const ids = Array.from({ length: 4_000 }, () => randomBytes(16).toString('hex'));

  it('samples all at 1 and none at 0', () => {
    expect(ids.every((id) => isSampled(id, 1))).toBe(true);
    expect(ids.some((id) => isSampled(id, 0))).toBe(false);
    expect(isSampled('f'.repeat(32), 0)).toBe(false);
  });

  it('samples about the given ratio, and a lower ratio’s traces at a higher one too', () => {
    const quarter = ids.filter((id) => isSampled(id, 0.25));
    expect(quarter.length / ids.length).toBeCloseTo(0.25, 1);
    expect(quarter.every((id) => isSampled(id, 0.5))).toBe(true);
  });
});
