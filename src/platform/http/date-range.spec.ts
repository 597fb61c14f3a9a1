import { describe, expect, it } from '@jest/globals';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { parseDateRange } from './date-range.js';

describe(parseDateRange.name, () => {
  it('is open on the sides that are not given', () => {
    expect(parseDateRange()).toEqual({ start: undefined, end: undefined });
  });

  it.each([
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T10:00:00Z', '2026-03-01T10:00:00.000Z'],
    ['2026-03-01T10:00:00', '2026-03-01T10:00:00.000Z'],
    ['2026-03-01T10:00:00.250+02:00', '2026-03-01T08:00:00.250Z'],
  ])('starts at %s', (text, first) => {
    expect(parseDateRange(text).start).toEqual(new Date(first));
  });

  it.each([
    ['2026-03-01', '2026-03-02T00:00:00.000Z'],
    ['2026-12-31', '2027-01-01T00:00:00.000Z'],
    ['2028-02-28', '2028-02-29T00:00:00.000Z'],
    ['2026-03-01T00:00:00Z', '2026-03-01T00:00:00.001Z'],
    ['2026-03-01T10:00', '2026-03-01T10:00:00.001Z'],
    ['2026-03-01T10:00:00.250-05:30', '2026-03-01T15:30:00.251Z'],
  ])('ends after the last millisecond of %s', (text, firstAfter) => {
    expect(parseDateRange(undefined, text).end).toEqual(new Date(firstAfter));
  });

  it.each(['2026-03-01T10:00:00 02:00', '2026-03-01T10:00 0200', '2026-03-01T10:00:00.0 02:00'])(
    'reads the space in %j as the plus of an offset',
    (text) => {
      expect(parseDateRange(text).start).toEqual(new Date('2026-03-01T08:00:00Z'));
    },
  );

  it('accepts a space between date and time', () => {
    expect(parseDateRange('2026-03-01 10:00').start).toEqual(new Date('2026-03-01T10:00:00Z'));
  });

  it.each(['', 'yesterday', '2026-02-30', '2026-13-01', '2026-1-1', '2026-03-01T25:00:00Z', '0'])(
    'rejects %j and names its parameter',
    (text) => {
      expect(refusalOf(() => parseDateRange(text, '2026-03-01'))).toBe('start_date');
      expect(refusalOf(() => parseDateRange('2026-03-01', text))).toBe('end_date');
    },
  );
});

function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof InvalidRequestError && error.status === 400) return error.param;
  }
  return 'none';
}
