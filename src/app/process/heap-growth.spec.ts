import { describe, expect, it } from '@jest/globals';
import { HeapGrowth } from './heap-growth.js';

describe(HeapGrowth.name, () => {
  it.each([
    ['starts with the tight limit', [], [30]],
    ['keeps the tight limit while collections are rare', [0, 4_000, 8_000], [30]],
    ['loosens the limit when collections follow closely', [0, 500, 900], [30, 150]],
    ['keeps the limit at intermediate intervals', [0, 500, 2_500, 4_500], [30, 150]],
    ['tightens again once collections are rare', [0, 500, 900, 10_000, 20_000], [30, 150, 30]],
  ])('%s', (_, collections, allowed) => {
    const percents: number[] = [];
    const growth = new HeapGrowth((percent) => percents.push(percent));
    for (const atMs of collections) growth.collected(atMs);
    expect(percents).toEqual(allowed);
  });
});
