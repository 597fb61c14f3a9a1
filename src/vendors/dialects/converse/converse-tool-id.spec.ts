import { describe, expect, it } from '@jest/globals';
import { converseToolId } from './converse-tools.js';

describe(converseToolId.name, () => {
  it("keeps ids of the API's alphabet and replaces others", () => {
    expect(converseToolId('call_1-a', { toolIds: 'any' })).toBe('call_1-a');
    expect(converseToolId('a'.repeat(65), { toolIds: 'any' })).toMatch(/^call_[\w-]{32}$/);
    expect(converseToolId('a.b', { toolIds: 'any' })).toMatch(/^call_[\w-]{32}$/);
  });

  it('makes nine characters of any id, the same ones each time', () => {
    const map = (id: string): string => converseToolId(id, { toolIds: 'nine-characters' });
    expect(map('aB3456789')).toBe('aB3456789');
    const ids = ['call_1', 'call_2', 'tooluse_AcX1', 'tooluse_AcX2', ''];
    const mapped = ids.map(map);
    expect(new Set(mapped).size).toBe(ids.length);
    expect(mapped).toEqual(ids.map(map));
    for (const id of mapped) expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
  });
});
