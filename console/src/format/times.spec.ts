import {
  axisTimeOf,
  formatDuration,
  fromLocalInput,
  isDays,
  timeFormatOf,
  toLocalInput,
} from './times';

const DAYS = ['2026-11-22T00:00:00Z', '2026-11-23T00:00:00Z'];
const HOURS = ['2026-11-22T00:00:00Z', '2026-11-22T01:00:00Z'];

describe('chart times', () => {
  it('are days if all are midnight UTC', () => {
    expect([DAYS, HOURS, []].map(isDays)).toEqual([true, false, false]);
  });

  it('are named by their UTC day in any time zone', () => {
    expect(timeFormatOf(DAYS)(DAYS[0] ?? '')).toContain('22');
    expect(axisTimeOf(DAYS)(Date.parse(DAYS[1] ?? '') / 1_000)).toContain('23');
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0 ms'],
    [840, '840 ms'],
    [2_449, '2.4 s'],
    [12_300, '12 s'],
    [185_000, '3 min 5 s'],
    [187_200_000, '2 d 4 h'],
  ])('formats %d ms as %s', (ms, text) => expect(formatDuration(ms)).toBe(text));
});

describe(toLocalInput, () => {
  it.each(['2026-01-31T23:59:00.000Z', '2026-07-01T00:00:00.000Z'])(
    'round-trips %s through fromLocalInput',
    (at) => {
      const text = toLocalInput(at);
      expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/);
      expect(fromLocalInput(text)).toBe(at);
    },
  );

  it('returns an empty string without a valid timestamp', () => {
    expect([null, undefined, 'nonsense'].map(toLocalInput)).toEqual(['', '', '']);
    expect(fromLocalInput('')).toBeUndefined();
  });
});
