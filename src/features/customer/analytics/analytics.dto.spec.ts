import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { findViolations } from '../../../platform/config/config-error.js';
import { readDimensions } from '../../../core/request-log/log-dimensions.js';
import { readLogFilters } from '../../../core/request-log/log-query.dto.js';
import { AnalyticsQueryDto } from './analytics.dto.js';

describe(AnalyticsQueryDto.name, () => {
  it('groups by model by default', () => {
    expect(plainToInstance(AnalyticsQueryDto, {})).toEqual({ group_by: 'model', limit: 1_000 });
  });

  it.each(['model', 'provider', 'api_key', 'day', 'hour', 'status'])(
    'accepts group_by=%s',
    (grouping) => {
      expect(faultsOf({ group_by: grouping, start_date: '2026-01-01' })).toEqual([]);
    },
  );

  it.each([
    [{ limit: '10001' }, 'limit'],
    [{ status: 'bad' }, 'status'],
    [{ end_user: '' }, 'end_user'],
    [{ model: ['a', 'b'] }, 'model'],
    [{ group_by: ['model', 'day'] }, 'group_by'],
    [{ start_date: ['2026-01-01', '2026-01-02'] }, 'start_date'],
    [{ end_date: ['2026-01-01', '2026-01-02'] }, 'end_date'],
    [{ tenant_id: 'other' }, 'tenant_id'],
  ])('rejects %j and names %s', (query, field) => {
    expect(faultsOf(query)).toEqual([field]);
  });
});

describe(readDimensions.name, () => {
  const namesOf = (groupBy: string) => readDimensions(groupBy).map(({ name }) => name);

  it.each([
    ['model', ['model']],
    ['tag:team, end_user', ['tag:team', 'end_user']],
    ['hour,route', ['hour', 'route']],
    ['tag:a,tag:b', ['tag:a', 'tag:b']],
  ])('reads %j', (groupBy, names) => {
    expect(namesOf(groupBy)).toEqual(names);
  });

  it.each([
    '',
    'Model',
    'tenant',
    'tag:',
    'tag:Team',
    'model,model',
    'model,day,hour',
    'model,',
    'constructor',
  ])('rejects %j and names group_by', (groupBy) => {
    expect(() => namesOf(groupBy)).toThrow(expect.objectContaining({ param: 'group_by' }));
  });

  it('accepts tenants for operators', () => {
    expect(readDimensions('tenant,day', { isOverTenants: true })).toHaveLength(2);
  });
});

describe(readLogFilters.name, () => {
  it('reads one tag or several', () => {
    const filtersOf = (query: object) =>
      readLogFilters(plainToInstance(AnalyticsQueryDto, query)).tags;
    expect(filtersOf({ tag: 'team=a' })).toEqual({ team: 'a' });
    expect(filtersOf({ tag: ['team=a', 'env:b'] })).toEqual({ team: 'a', env: 'b' });
    expect(() => filtersOf({ tag: 'team' })).toThrow(expect.objectContaining({ param: 'tag' }));
  });

  it('rejects an invalid key id', () => {
    const query = plainToInstance(AnalyticsQueryDto, { api_key_id: 'x' });
    expect(() => readLogFilters(query)).toThrow(expect.objectContaining({ param: 'api_key_id' }));
  });
});

function faultsOf(query: object): string[] {
  return findViolations(plainToInstance(AnalyticsQueryDto, query), { refuseUnknown: true }).map(
    ({ path }) => path,
  );
}
