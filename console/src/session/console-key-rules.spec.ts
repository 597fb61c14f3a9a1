import { describe, expect, it } from '@jest/globals';
import { isStoredKey, staleKeys } from './console-key-rules';

describe(staleKeys.name, () => {
  it('returns unused keys of the same person from closed tabs', () => {
    const now = Date.parse('2026-11-23T12:00:00Z');
    const key = {
      id: 'a',
      name: 'Playground of Ada',
      is_active: true,
      last_used_at: null,
      created_at: '2026-11-23T10:00:00Z',
    };
    const keys = [
      key,
      { ...key, id: 'used', last_used_at: '2026-11-23T11:30:00Z' },
      { ...key, id: 'own' },
      { ...key, id: 'ended', is_active: false },
      { ...key, id: 'other', name: 'Playground of Bob' },
    ];
    const rules = { name: 'Playground of Ada', ownId: 'own', now };
    expect(staleKeys(keys, rules).map(({ id }) => id)).toEqual(['a']);
  });
});

describe(isStoredKey.name, () => {
  it('accepts complete keys only', () => {
    const key = { id: '1', key: 'sk-1', name: 'n', tenantId: 't', expiresAt: '2026-11-23' };
    expect(isStoredKey(key)).toBe(true);
    expect([null, 3, {}, { ...key, key: 1 }].map((value) => isStoredKey(value))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});
