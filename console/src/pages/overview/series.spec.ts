import type { components } from '../../api/schema';
import { daySeries, stackedDays } from './series';

const NOW = new Date('2026-11-23T12:00:00Z');

function group(day: string, cost: number, model = '') {
  return { groups: { day: `${day}T00:00:00Z`, model }, cost } as unknown as Group;
}
type Group = components['schemas']['AnalyticsGroup'];

describe('daySeries', () => {
  it('includes days without requests', () => {
    const { times, rows } = daySeries('2026-11-21', [group('2026-11-22', 5)], NOW);
    expect(times).toEqual([21, 22, 23].map((day) => `2026-11-${day}T00:00:00Z`));
    expect(rows.map((row) => row?.cost)).toEqual([undefined, 5, undefined]);
  });
});

describe('stackedDays', () => {
  it('returns a series per name with zeros for gaps', () => {
    const groups = [group('2026-11-22', 5, 'a'), group('2026-11-23', 7, 'b')];
    const { series } = stackedDays(
      '2026-11-22',
      'model',
      ['a', 'b'],
      groups,
      ({ cost }) => cost,
      NOW,
    );
    expect(series).toEqual([
      { label: 'a', values: [5, 0] },
      { label: 'b', values: [0, 7] },
    ]);
  });
});
