import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { findViolations } from '../../../platform/config/config-error.js';
import { AnalyticsQueryDto } from './analytics.dto.js';

describe(AnalyticsQueryDto.name, () => {
  it('groups by model unless told otherwise', () => {
    expect(plainToInstance(AnalyticsQueryDto, {})).toEqual({ group_by: 'model' });
  });

  it.each(['model', 'provider', 'api_key', 'day', 'hour', 'status'])(
    'takes group_by=%s',
    (grouping) => {
      expect(faultsOf({ group_by: grouping, start_date: '2026-01-01' })).toEqual([]);
    },
  );

  it.each([
    [{ group_by: 'tenant' }, 'group_by'],
    [{ group_by: '' }, 'group_by'],
    [{ group_by: 'Model' }, 'group_by'],
    [{ group_by: ['model', 'day'] }, 'group_by'],
    [{ start_date: ['2026-01-01', '2026-01-02'] }, 'start_date'],
    [{ end_date: ['2026-01-01', '2026-01-02'] }, 'end_date'],
    [{ tenant_id: 'other' }, 'tenant_id'],
  ])('refuses %j, naming %s', (query, field) => {
    expect(faultsOf(query)).toEqual([field]);
  });
});

function faultsOf(query: object): string[] {
  return findViolations(plainToInstance(AnalyticsQueryDto, query), { refuseUnknown: true }).map(
    ({ path }) => path,
  );
}
