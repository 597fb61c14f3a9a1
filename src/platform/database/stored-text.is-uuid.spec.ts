import { describe, expect, it } from '@jest/globals';
import { isUuid } from './stored-text.js';

describe(isUuid.name, () => {
  it.each([
    '7b0c2a52-3f0a-4b39-9d0f-0f9d2b6f1a01',
    '7B0C2A52-3F0A-4B39-9D0F-0F9D2B6F1A01',
    '00000000-0000-0000-0000-000000000000',
  ])('accepts %s', (text) => {
    expect(isUuid(text)).toBe(true);
  });

  it.each([
    '',
    'chatcmpl-1',
    '7b0c2a523f0a4b399d0f0f9d2b6f1a01',
    '{7b0c2a52-3f0a-4b39-9d0f-0f9d2b6f1a01}',
    '7b0c2a52-3f0a-4b39-9d0f-0f9d2b6f1a01\n',
    '7b0c2a52-3f0a-4b39-9d0f-0f9d2b6f1a0g',
    '7b0c2a52-3f0a-4b39-9d0f-0f9d2b6f1a01\u0000',
  ])('rejects %j', (text) => {
    expect(isUuid(text)).toBe(false);
  });
});
