import { describe, expect, it } from '@jest/globals';
import { hashApiKey } from './api-key.js';

describe(hashApiKey.name, () => {
  it('is SHA-256 in hex', () => {
    // printf sk-test | sha256sum
    expect(hashApiKey('sk-test')).toBe(
      'f3abf2a6cc4f00987743db5f544ba345b4899ae31f326d8ee9c4816de153c9e0',
    );
  });
});
