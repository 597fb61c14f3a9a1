import { describe, expect, it } from '@jest/globals';
import { toRequestQuery } from './request-filters';

const NOW = new Date('2026-11-23T12:00:00Z');

describe('toRequestQuery', () => {
  it('converts filters to API parameters', () => {
    const filters = { model: 'a/b', tag: 'team=x', status: 'error', min_cost: '5' };
    expect(toRequestQuery(filters, NOW)).toEqual({
      model: 'a/b',
      tag: ['team=x'],
      status: 'error',
      min_cost: 5,
    });
  });

  it('resolves a range relative to now and ignores dates', () => {
    expect(toRequestQuery({ range: '24h', start_date: 'x', end_date: 'y' }, NOW)).toEqual({
      start_date: '2026-11-22T12:00:00.000Z',
    });
    expect(toRequestQuery({ range: 'x', start_date: '2026-11-01' }, NOW)).toEqual({
      start_date: '2026-11-01',
    });
  });

  it('drops invalid numbers and statuses', () => {
    expect(toRequestQuery({ min_cost: '-1', max_cost: '1e3', status: 'odd' }, NOW)).toEqual({});
  });
});
