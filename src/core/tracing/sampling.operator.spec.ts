import { describe, expect, it } from '@jest/globals';
import { isExported } from './sampling.js';

const [LOW, HIGH] = ['0'.repeat(32), 'f'.repeat(32)];

describe(isExported.name, () => {
  it.each([
    ['follows a parent that is recorded', HIGH, true, { followsParent: true, ratio: 0 }, true],
    ['follows one that is not', HIGH, false, { followsParent: true, ratio: 1 }, false],
    ['decides where there is no parent', LOW, undefined, { followsParent: true, ratio: 1 }, true],
    ['takes the share', HIGH, undefined, { followsParent: true, ratio: 0.5 }, true],
    ['leaves out the rest', LOW, undefined, { followsParent: true, ratio: 0.5 }, false],
    ['may ask no parent', LOW, true, { followsParent: false, ratio: 0 }, false],
    ['may ask no parent, to take all', LOW, false, { followsParent: false, ratio: 1 }, true],
  ])('%s', (_what, traceId, isParentSampled, sampler, expected) => {
    expect(isExported({ traceId, isParentSampled }, sampler)).toBe(expected);
  });
});
