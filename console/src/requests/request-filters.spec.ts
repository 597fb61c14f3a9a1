import { describe, expect, it } from '@jest/globals';
import { toRequestQuery } from './request-filters';

const NOW = new Date('2026-11-23T12:00:00Z');

describe('the filters of requests', () => {
  it('are parameters of the API', () => {
    const filters = { model: 'a/b', tag: 'team=x', status: 'error', min_cost: '5' };
    expect(toRequestQuery(filters, NOW)).toEqual({
      model: 'a/b',
      tag: ['team=x'],
      status: 'error',
      min_cost: 5,
    });
  });

  it('count a range back from now, in place of dates', () => {
    expect(toRequestQuery({ range: '24h', start_date: 'x', end_date: 'y' }, NOW)).toEqual({
      start_date: '2026-11-22T12:00:00.000Z',
    });
    expect(toRequestQuery({ range: 'x', start_date: '2026-11-01' }, NOW)).toEqual({
      start_date: '2026-11-01',
    });
  });

  it('leave out what is no number or status', () => {
    expect(toRequestQuery({ min_cost: '-1', max_cost: '1e3', status: 'odd' }, NOW)).toEqual({});
  });
});
