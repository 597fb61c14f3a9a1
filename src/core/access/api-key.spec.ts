import { describe, expect, it } from '@jest/globals';
import { previewApiKey } from './api-key.js';

describe(previewApiKey.name, () => {
  it.each([
    ['sk-abcdefghijklmnopqrstuvwxyz', 'sk-abcd...wxyz'],
    ['sk-mgmt-abcdefghijklmnopqrstuvwxyz', 'sk-mgmt-abcd...wxyz'],
    ['sk-abcdefghijklm', 'sk-abcd...jklm'],
  ])('shows the prefix, 4 characters and the last 4 of %s', (key, preview) => {
    expect(previewApiKey(key)).toBe(preview);
  });

  it('hides most of a short key', () => {
    expect(previewApiKey('sk-mgmt-abcdefgh')).toBe('sk-mgmt-ab...gh');
  });
});
