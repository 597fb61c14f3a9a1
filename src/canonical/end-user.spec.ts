import { describe, expect, it } from '@jest/globals';
import { readEndUser } from './end-user.js';

describe('readEndUser', () => {
  it('takes the text as it is', () => {
    expect(readEndUser('user-1 é')).toBe('user-1 é');
    expect(readEndUser('u'.repeat(256))).toBe('u'.repeat(256));
  });

  it.each([[undefined], [null], [''], [7], [{ id: 'user-1' }]])('has none in %p', (value) => {
    expect(readEndUser(value)).toBeUndefined();
  });

  it('names a longer text by its hash, and two such texts apart', () => {
    const long = 'u'.repeat(257);

    expect(readEndUser(long)).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(readEndUser(`${long}1`)).not.toBe(readEndUser(`${long}2`));
  });
});
