import { expect, it } from '@jest/globals';
import { staleRowsOf } from './stale-prices.js';

const NOW = Date.parse('2026-11-23T12:00:00Z');

it('lists rows unconfirmed for the given number of days, oldest first', () => {
  const rows = [
    { id: 'xai/today', as_of: '2026-11-23' },
    { id: 'xai/edge', as_of: '2026-09-24' },
    { id: 'xai/old', as_of: '2026-09-23', source: 'a page' },
    { id: 'xai/never' },
    { id: 'xai/no-day', as_of: '2026-02-30' },
    { id: 'sandbox/echo' },
  ];
  const stale = staleRowsOf(new Map(rows.map((row) => [row.id, row])), NOW);
  expect(stale.map(({ id }) => id)).toEqual(['xai/never', 'xai/no-day', 'xai/old']);
  expect(stale[2]).toEqual({ id: 'xai/old', asOf: '2026-09-23', source: 'a page' });
  expect(staleRowsOf(new Map([['xai/old', rows[2]!]]), NOW, 90)).toEqual([]);
});
