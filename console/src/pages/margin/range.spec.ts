import { chosenRange, rangeOf } from './range';

const NOW = new Date('2026-11-23T12:00:00Z');

describe('rangeOf', () => {
  it('defaults to the last 30 days, including today', () => {
    expect(rangeOf({}, NOW)).toEqual({ start_date: '2026-10-25', text: 'in the last 30 days' });
    expect(rangeOf({ days: '5' }, NOW).start_date).toBe('2026-10-25');
    expect(rangeOf({ days: '7' }, NOW).start_date).toBe('2026-11-17');
  });

  it('returns the named dates and ignores reversed ones', () => {
    const march = { start_date: '2026-03-01', end_date: '2026-03-31' };
    expect(rangeOf({ days: '7', from: '2026-03-01', to: '2026-03-31' }, NOW)).toMatchObject(march);
    expect(rangeOf({ from: '2026-03-01', to: '2026-02-01' }, NOW).end_date).toBeUndefined();
    expect(rangeOf({ from: 'yesterday' }, NOW).start_date).toBe('2026-10-25');
  });
});

describe('chosenRange', () => {
  it('returns `dates` for a custom range', () => {
    expect([{}, { days: '90' }, { days: '90', from: '2026-03-01' }].map(chosenRange)).toEqual([
      '30',
      '90',
      'dates',
    ]);
  });
});
