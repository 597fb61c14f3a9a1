import { describe, expect, it } from '@jest/globals';
import { HeapGrowth } from './heap-growth.js';

describe(HeapGrowth.name, () => {
  it.each([
    ['begins tight', [], [30]],
    ['stays tight while collections are rare', [0, 4_000, 8_000], [30]],
    ['lets go when one soon follows the other', [0, 500, 900], [30, 150]],
    ['stays as it is in between', [0, 500, 2_500, 4_500], [30, 150]],
    ['is tight again once they are rare', [0, 500, 900, 10_000, 20_000], [30, 150, 30]],
  ])('%s', (_, collections, allowed) => {
    const percents: number[] = [];
    const growth = new HeapGrowth((percent) => percents.push(percent));
    for (const atMs of collections) growth.collected(atMs);
    expect(percents).toEqual(allowed);
  });
});
