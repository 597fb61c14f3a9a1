import { describe, expect, it } from '@jest/globals';
import { isExported } from './sampling.js';

const [LOW, HIGH] = ['0'.repeat(32), 'f'.repeat(32)];

describe(isExported.name, () => {
  it.each([
    ['follows a parent that is sampled', HIGH, true, { followsParent: true, ratio: 0 }, true],
    ['follows one that is not', HIGH, false, { followsParent: true, ratio: 1 }, false],
    ['samples without a parent', LOW, undefined, { followsParent: true, ratio: 1 }, true],
    ['samples within the ratio', HIGH, undefined, { followsParent: true, ratio: 0.5 }, true],
    ['drops beyond the ratio', LOW, undefined, { followsParent: true, ratio: 0.5 }, false],
    ['can ignore a parent', LOW, true, { followsParent: false, ratio: 0 }, false],
    [
      'can ignore a parent that is not sampled',
      LOW,
      false,
      { followsParent: false, ratio: 1 },
      true,
    ],
  ])('%s', (_what, traceId, isParentSampled, sampler, expected) => {
    expect(isExported({ traceId, isParentSampled }, sampler)).toBe(expected);
  });
});
