import { describe, expect, it } from '@jest/globals';
import { readEndUser } from './end-user.js';

describe('readEndUser', () => {
  it('returns the text unchanged', () => {
    expect(readEndUser('user-1 é')).toBe('user-1 é');
    expect(readEndUser('u'.repeat(256))).toBe('u'.repeat(256));
  });

  it.each([[undefined], [null], [''], [7], [{ id: 'user-1' }]])(
    'returns undefined for %p',
    (value) => {
      expect(readEndUser(value)).toBeUndefined();
    },
  );

  it('hashes longer texts and keeps them distinct', () => {
    const long = 'u'.repeat(257);

    expect(readEndUser(long)).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(readEndUser(`${long}1`)).not.toBe(readEndUser(`${long}2`));
  });
});
