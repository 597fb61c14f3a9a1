import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { findViolations } from '../../../platform/config/config-error.js';
import { LogsQueryDto } from './logs.dto.js';

describe(LogsQueryDto.name, () => {
  it('defaults to the first 50 rows', () => {
    expect(plainToInstance(LogsQueryDto, {})).toEqual({ limit: 50, offset: 0 });
  });

  it('reads numbers from their digits', () => {
    const query = plainToInstance(LogsQueryDto, { limit: '7', offset: '21' });
    expect(query).toMatchObject({ limit: 7, offset: 21 });
  });

  it.each([
    { limit: '1', offset: '0' },
    { limit: '100000000000000000000' },
    { offset: String(Number.MAX_SAFE_INTEGER) },
    { status: 'success', model: 'a/b', start_date: '2026-01-01', api_key_id: 'any text' },
    { status: 'error', model: 'with \u0000', end_date: '2026-01-01' },
  ])('accepts %j', (query) => {
    expect(faultsOf(query)).toEqual([]);
  });

  it.each([
    ...['0', '-1', '1.5', '1e2', '0x10', 'ten', '', ' 5', '+5', ['1', '2']].map(
      (limit) => [{ limit }, 'limit'] as const,
    ),
    ...['-1', '0.5', '', 'x', '9007199254740992', ['0', '1']].map(
      (offset) => [{ offset }, 'offset'] as const,
    ),
    ...['ok', 'Success', '', ['success', 'error']].map((status) => [{ status }, 'status'] as const),
    [{ model: '' }, 'model'],
    [{ model: ['a/b', 'a/c'] }, 'model'],
    [{ start_date: ['2026-01-01', '2026-01-02'] }, 'start_date'],
    [{ end_date: ['2026-01-01', '2026-01-02'] }, 'end_date'],
    [{ api_key_id: ['a', 'b'] }, 'api_key_id'],
    [{ tenant_id: 'other' }, 'tenant_id'],
    [{ 'limit[gt]': '1' }, 'limit[gt]'],
  ])('rejects %j and names %s', (query, field) => {
    expect(faultsOf(query)).toEqual([field]);
  });
});

function faultsOf(query: object): string[] {
  return findViolations(plainToInstance(LogsQueryDto, query), { refuseUnknown: true }).map(
    ({ path }) => path,
  );
}
