import { describe, expect, it } from '@jest/globals';
import { coverSpan, splitSpan, toSpan, type Span, type SplitSpan } from './split-span.js';

describe(splitSpan.name, () => {
  it('splits off whole days and the whole hours around them', () => {
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

  it('splits whole months off the days', () => {
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

  it('covers every instant once', () => {
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
  it('clamps open and extreme bounds to what the database accepts', () => {
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

describe(coverSpan.name, () => {
  const at = (time: string) => new Date(`2026-${time}Z`);
  const now = at('12-03T10:00');
  const told = (parts: ReturnType<typeof coverSpan>) =>
    parts.map(
      ({ grain, sign, start, end }) =>
        `${sign > 0 ? '+' : '-'}${grain} ${start.toISOString().slice(5, 13)} ${end.toISOString().slice(5, 13)}`,
    );

  it.each([
    [
      '01-03T05:00',
      '01-28T09:00',
      'month',
      [
        '+month 01-01T00 02-01T00',
        '-day 01-01T00 01-03T00',
        '-hour 01-03T00 01-03T05',
        '-day 01-28T00 02-01T00',
        '+hour 01-28T00 01-28T09',
      ],
    ],
    [
      '01-03T05:00',
      '01-04T09:00',
      'month',
      ['+day 01-03T00 01-04T00', '-hour 01-03T00 01-03T05', '+hour 01-04T00 01-04T09'],
    ],
    [
      '01-30T00:00',
      '04-02T00:00',
      'month',
      ['+day 01-30T00 02-01T00', '+month 02-01T00 04-01T00', '+day 04-01T00 04-02T00'],
    ],
    ['01-03T05:00', '01-03T09:00', 'day', ['+hour 01-03T05 01-03T09']],
    ['01-03T05:00', '02-28T09:00', 'hour', ['+hour 01-03T05 02-28T09']],
    ['12-01T00:00', '12-03T09:00', 'day', ['+day 12-01T00 12-04T00', '-hour 12-03T09 12-04T00']],
    ['02-01T00:00', '02-01T00:00', 'month', []],
  ] as const)('reads few sums from %s to %s by %s', (start, end, coarsest, parts) => {
    expect(told(coverSpan({ start: at(start), end: at(end) }, coarsest, now)).sort()).toEqual(
      [...parts].sort(),
    );
  });

  it('covers each hour once, including subtracted parts', () => {
    const first = Date.UTC(2026, 0, 1);
    for (let turn = 0; turn < 300; turn++) {
      const [from, to] = [(turn * 7_919) % 2_000, (turn * 104_729) % 2_000].sort((a, b) => a - b);
      const hour = (count: number) => new Date(first + count * 3_600_000);
      for (const coarsest of ['month', 'day', 'hour'] as const) {
        const counts = new Map<number, number>();
        for (const part of coverSpan({ start: hour(from!), end: hour(to!) }, coarsest, now)) {
          for (let ms = part.start.getTime(); ms < part.end.getTime(); ms += 3_600_000) {
            counts.set(ms, (counts.get(ms) ?? 0) + part.sign);
          }
        }
        const covered = [...counts].filter(([, count]) => count !== 0);
        expect(covered.every(([, count]) => count === 1)).toBe(true);
        expect(covered).toHaveLength(to! - from!);
        if (to! > from!) {
          expect(Math.min(...covered.map(([ms]) => ms))).toBe(hour(from!).getTime());
        }
      }
    }
  });
});
