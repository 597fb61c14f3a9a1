import { describe, expect, it } from '@jest/globals';
import { splitSpan, toSpan, type Span, type SplitSpan } from './split-span.js';

describe(splitSpan.name, () => {
  it('takes whole days out of the middle and whole hours beside them', () => {
    expect(split('2026-01-01T21:30:00Z', '2026-01-05T02:15:00Z')).toEqual({
      rowsBefore: '01T21:30 01T22:00',
      hoursBefore: '01T22:00 02T00:00',
      days: '02T00:00 05T00:00',
      hoursAfter: '05T00:00 05T02:00',
      rowsAfter: '05T02:00 05T02:15',
      whole: '01T22:00 05T02:00',
      months: 'empty',
      daysBefore: '02T00:00 05T00:00',
      daysAfter: 'empty',
    });
  });

  it.each([
    ['2026-01-01T00:00:00Z', '2026-01-03T00:00:00Z', { days: '01T00:00 03T00:00' }],
    ['2026-01-01T05:00:00Z', '2026-01-01T07:00:00Z', { hoursBefore: '01T05:00 01T07:00' }],
    ['2026-01-01T05:10:00Z', '2026-01-01T05:20:00Z', { rowsBefore: '01T05:10 01T05:20' }],
    [
      '2026-01-01T05:10:00Z',
      '2026-01-01T06:20:00Z',
      { rowsBefore: '01T05:10 01T06:00', rowsAfter: '01T06:00 01T06:20' },
    ],
    ['2026-01-01T05:10:00Z', '2026-01-01T05:10:00Z', {}],
  ])('leaves the other parts empty from %s to %s', (start, end, expected) => {
    const { whole: _, daysBefore: __, daysAfter: ___, ...parts } = split(start, end);
    const filled = Object.entries(parts).filter(([, text]) => text !== 'empty');
    expect(Object.fromEntries(filled)).toEqual(expected);
  });

  it('takes whole months out of the days', () => {
    const { daysBefore, months, daysAfter } = splitSpan({
      start: new Date('2025-12-30T01:00:00Z'),
      end: new Date('2026-03-02T01:00:00Z'),
    });
    const text = ({ start, end }: Span) =>
      [start, end].map((date) => date.toISOString().slice(0, 10));
    expect(text(daysBefore)).toEqual(['2025-12-31', '2026-01-01']);
    expect(text(months)).toEqual(['2026-01-01', '2026-03-01']);
    expect(text(daysAfter)).toEqual(['2026-03-01', '2026-03-02']);
  });

  it('covers every instant once, wherever it is cut', () => {
    const startMs = Date.UTC(2026, 0, 1);
    for (let index = 0; index < 500; index++) {
      const [from, length] = [(index * 7_919) % 43_200, (index * 104_729) % 120_000];
      const start = new Date(startMs + from * 60_000);
      const end = new Date(start.getTime() + length * 60_000);
      const parts = splitSpan({ start, end });
      const chain = [
        parts.rowsBefore,
        parts.hoursBefore,
        ...(index % 2 === 0 ? [parts.days] : [parts.daysBefore, parts.months, parts.daysAfter]),
        parts.hoursAfter,
        parts.rowsAfter,
      ];
      let reached = start.getTime();
      for (const part of chain) {
        expect(part.start.getTime()).toBe(reached);
        expect(part.end.getTime()).toBeGreaterThanOrEqual(reached);
        reached = part.end.getTime();
      }
      expect(reached).toBe(end.getTime());
    }
  });
});

describe(toSpan.name, () => {
  it('gives open and impossible sides an end that a database can take', () => {
    const all = toSpan({});
    expect(all.start).toEqual(new Date(0));
    expect(toSpan({ start: new Date('0000-01-01'), end: new Date('+010000-01-01') })).toEqual(all);
  });

  it('is empty when its end is before its start', () => {
    const start = new Date('2026-02-01');
    expect(toSpan({ start, end: new Date('2026-01-01') })).toEqual({ start, end: start });
  });
});

function split(start: string, end: string): Record<keyof SplitSpan, string> {
  const parts = splitSpan({ start: new Date(start), end: new Date(end) });
  const texts = Object.entries(parts).map(([name, part]) => [name, describeSpan(part as Span)]);
  return Object.fromEntries(texts) as Record<keyof SplitSpan, string>;
}

function describeSpan({ start, end }: Span): string {
  const short = (date: Date) => date.toISOString().slice(8, 16);
  return start < end ? `${short(start)} ${short(end)}` : 'empty';
}
