import { describe, expect, it } from '@jest/globals';
import { SecretBox, UnsealError } from './secret-box.js';

const SECRET = 'a-secret-of-at-least-32-characters';
const box = new SecretBox(SECRET, 'tests');

describe('SecretBox', () => {
  it.each(['', 'sk-vendor-key', '鍵\n\u0000🔑', 'x'.repeat(100_000)])('gives back %#', (text) => {
    expect(box.unseal(box.seal(text, 'row 1'), 'row 1')).toBe(text);
  });

  it('seals the same text differently each time, and shows nothing of it', () => {
    const first = box.seal('sk-vendor-key', 'row 1');
    expect(first).not.toEqual(box.seal('sk-vendor-key', 'row 1'));
    expect(first.toString('latin1')).not.toContain('vendor');
  });

  it('does not open a value in another place, for another purpose or with another secret', () => {
    const sealed = box.seal('sk-vendor-key', 'row 1');
    expect(() => box.unseal(sealed, 'row 2')).toThrow(UnsealError);
    expect(() => new SecretBox(SECRET, 'others').unseal(sealed, 'row 1')).toThrow(UnsealError);
    expect(() => new SecretBox(`${SECRET}!`, 'tests').unseal(sealed, 'row 1')).toThrow(UnsealError);
  });

  it('does not open what was changed or cut at any byte', () => {
    const sealed = box.seal('sk', 'row 1');
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed);
      changed[index]! ^= 1;
      expect(() => box.unseal(changed, 'row 1')).toThrow(UnsealError);
      expect(() => box.unseal(sealed.subarray(0, index), 'row 1')).toThrow(UnsealError);
    }
  });
});
