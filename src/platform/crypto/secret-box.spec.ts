import { describe, expect, it } from '@jest/globals';
import { SecretBox, DecryptionError, secretFingerprint } from './secret-box.js';

const SECRET = 'a-secret-of-at-least-32-characters';
const box = new SecretBox(SECRET, 'tests');

describe('SecretBox', () => {
  it.each(['', 'sk-vendor-key', '鍵\n\u0000🔑', 'x'.repeat(100_000)])('round-trips %#', (text) => {
    expect(box.decrypt(box.encrypt(text, 'row 1'), 'row 1')).toBe(text);
  });

  it('encrypts the same text differently each time, without revealing it', () => {
    const first = box.encrypt('sk-vendor-key', 'row 1');
    expect(first).not.toEqual(box.encrypt('sk-vendor-key', 'row 1'));
    expect(first.toString('latin1')).not.toContain('vendor');
  });

  it('opens no value under another context, purpose or secret', () => {
    const encrypted = box.encrypt('sk-vendor-key', 'row 1');
    expect(() => box.decrypt(encrypted, 'row 2')).toThrow(DecryptionError);
    expect(() => new SecretBox(SECRET, 'others').decrypt(encrypted, 'row 1')).toThrow(
      DecryptionError,
    );
    expect(() => new SecretBox(`${SECRET}!`, 'tests').decrypt(encrypted, 'row 1')).toThrow(
      DecryptionError,
    );
  });

  it('opens no value that was changed or truncated at any byte', () => {
    const encrypted = box.encrypt('sk', 'row 1');
    for (let index = 0; index < encrypted.length; index++) {
      const changed = Buffer.from(encrypted);
      changed[index]! ^= 1;
      expect(() => box.decrypt(changed, 'row 1')).toThrow(DecryptionError);
      expect(() => box.decrypt(encrypted.subarray(0, index), 'row 1')).toThrow(DecryptionError);
    }
  });
});

describe('secretFingerprint', () => {
  it('identifies a secret without revealing it, the same at every start', () => {
    expect(secretFingerprint(SECRET)).toMatch(/^[0-9a-f]{16}$/);
    expect(secretFingerprint(SECRET)).toBe(secretFingerprint(SECRET));
    expect(secretFingerprint(`${SECRET}!`)).not.toBe(secretFingerprint(SECRET));
  });
});
