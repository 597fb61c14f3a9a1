import { describe, expect, it } from '@jest/globals';
import { mintRequestId } from './request-id.js';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const at = (text: string) => mintRequestId(Date.parse(text));
/** Returns an id without its random part. */
const timeOf = (id: string) => id.slice(0, 18);

describe(mintRequestId.name, () => {
  it('mints UUIDs in the form of version 4, a new one each time', () => {
    const ids = Array.from({ length: 1_000 }, () => mintRequestId());
    for (const id of ids) expect(id).toMatch(UUID_V4);
    expect(new Set(ids).size).toBe(1_000);
  });

  it('orders ids by time within ten seconds', () => {
    const times = [
      '2020-01-01T00:00:00Z',
      '2026-01-31T23:59:59.999Z',
      '2026-02-01T00:00:00Z',
      '2026-02-01T00:00:11Z',
      '2026-02-28T23:59:59.999Z',
      '2026-03-01T00:00:00Z',
      '2105-04-30T00:00:00Z',
    ];
    const ids = times.map(at).map(timeOf);
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    expect(timeOf(at('2026-02-01T00:00:09Z'))).toBe(timeOf(at('2026-02-01T00:00:00Z')));
  });

  it('begins a month where its partition begins', () => {
    // 73 months after January 2020, 64 steps of the second group each.
    expect(timeOf(at('2026-02-01T00:00:00Z'))).toBe(`6d6f6e74-${(73 * 64).toString(16)}-4000`);
  });

  it.each(['1999-06-15T12:00:00Z', '2200-06-15T12:00:00Z'])('tolerates a clock at %s', (time) => {
    expect(at(time)).toMatch(/^6d6f6e74-(00|ff)/);
    expect(at(time)).toMatch(UUID_V4);
  });
});
