import { describe, expect, it } from '@jest/globals';
import { mintApiKey } from './api-key.js';

describe(mintApiKey.name, () => {
  it('appends 43 base62 characters to the prefix of the type', () => {
    expect(mintApiKey('routing')).toMatch(/^sk-[0-9A-Za-z]{43}$/);
    expect(mintApiKey('management')).toMatch(/^sk-mgmt-[0-9A-Za-z]{43}$/);
  });

  it('never generates the same key twice', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => mintApiKey('routing'))).size).toBe(1_000);
  });

  it('favours no character', () => {
    const counts = new Map<string, number>();
    const keys = 5_000;
    for (let made = 0; made < keys; made++) {
      for (const character of mintApiKey('routing').slice(3)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    // Bytes taken modulo 62 without rejection would give the first 8 characters 25 % more than the
    // others; chance alone moves a count by about 2 % here.
    const expected = (keys * 43) / 62;
    expect(counts.size).toBe(62);
    for (const count of counts.values()) {
      expect(Math.abs(count - expected)).toBeLessThan(expected * 0.12);
    }
  });
});
