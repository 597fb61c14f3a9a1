import { describe, expect, it } from '@jest/globals';
import { signatureOf } from './converse-reasoning.js';

describe(signatureOf.name, () => {
  it.each([
    ['maker:c2VhbA==', 'c2VhbA=='],
    ['other:c2VhbA==', undefined],
    ['maker:redacted:c2VhbA==', undefined],
    [undefined, undefined],
  ])('returns for %s: %s', (named, signature) => {
    expect(signatureOf('maker', named)).toBe(signature);
  });
});
