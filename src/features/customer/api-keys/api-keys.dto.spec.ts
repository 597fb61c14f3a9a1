import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { findViolations } from '../../../platform/config/config-error.js';
import { UpdateApiKeyDto, CreateApiKeyDto } from './api-keys.dto.js';

describe(CreateApiKeyDto.name, () => {
  it.each([
    { name: 'n' },
    { name: '😀'.repeat(255) },
    { name: 'with \u0000 and \ud800 in it\n' },
    { name: 'n', expires_at: null },
    { name: 'n', expires_at: '2030-12-31T23:59:59+01:00' },
    { name: 'n', rate_limit_per_minute: 1, type: 'routing' },
    { name: 'n', monthly_spend_limit: 1 },
    { name: 'n', monthly_spend_limit: null },
    { name: 'n', rate_limit_per_minute: 1_000_000, type: 'management' },
  ])('accepts %j', (body) => {
    expect(faultsOf(CreateApiKeyDto, body)).toEqual([]);
  });

  it.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: null }, 'name'],
    [{ name: 5 }, 'name'],
    [{ name: ['n'] }, 'name'],
    [{ name: 'n'.repeat(256) }, 'name'],
    [{ name: 'n', expires_at: '2030-02-30' }, 'expires_at'],
    [{ name: 'n', expires_at: 1924992000 }, 'expires_at'],
    [{ name: 'n', expires_at: '' }, 'expires_at'],
    [{ name: 'n', rate_limit_per_minute: 0 }, 'rate_limit_per_minute'],
    [{ name: 'n', rate_limit_per_minute: 1_000_001 }, 'rate_limit_per_minute'],
    [{ name: 'n', rate_limit_per_minute: 1.5 }, 'rate_limit_per_minute'],
    [{ name: 'n', rate_limit_per_minute: '600' }, 'rate_limit_per_minute'],
    [{ name: 'n', rate_limit_per_minute: null }, 'rate_limit_per_minute'],
    [{ name: 'n', monthly_spend_limit: 0 }, 'monthly_spend_limit'],
    [{ name: 'n', monthly_spend_limit: '5' }, 'monthly_spend_limit'],
    [{ name: 'n', monthly_spend_limit: 2 ** 53 }, 'monthly_spend_limit'],
    [{ name: 'n', type: 'admin' }, 'type'],
    [{ name: 'n', type: null }, 'type'],
    [{ name: 'n', key: 'sk-of-my-own-choice' }, 'key'],
    [{ name: 'n', tenant_id: 'other' }, 'tenant_id'],
  ])('rejects %j and names %s', (body, field) => {
    expect(faultsOf(CreateApiKeyDto, body)).toEqual([field]);
  });
});

describe(UpdateApiKeyDto.name, () => {
  it.each([{}, { name: 'n' }, { expires_at: null }, { name: 'n', expires_at: '2030-12-31' }])(
    'accepts %j',
    (body) => {
      expect(faultsOf(UpdateApiKeyDto, body)).toEqual([]);
    },
  );

  it.each([
    [{ name: null }, 'name'],
    [{ name: '' }, 'name'],
    [{ expires_at: 'never' }, 'expires_at'],
    [{ is_active: true }, 'is_active'],
    [{ rate_limit_per_minute: 5 }, 'rate_limit_per_minute'],
    [{ monthly_spend_limit: 5 }, 'monthly_spend_limit'],
    [{ type: 'management' }, 'type'],
    [{ status: 'active' }, 'status'],
  ])('rejects %j and names %s', (body, field) => {
    expect(faultsOf(UpdateApiKeyDto, body)).toEqual([field]);
  });
});

function faultsOf<Body extends object>(dto: new () => Body, body: object): string[] {
  return findViolations(plainToInstance(dto, body), { refuseUnknown: true }).map(
    ({ path }) => path,
  );
}
