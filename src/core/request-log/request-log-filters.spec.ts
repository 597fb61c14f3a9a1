import { describe, expect, it } from '@jest/globals';
import { conditionOf } from './request-log-filters.js';

const TENANT = '7b0c2a52-3f0a-4b39-9d0f-0f9d2b6f1a01';

describe(conditionOf.name, () => {
  it('always includes the tenant', () => {
    expect(conditionOf(TENANT, {})).toEqual({ sql: 'tenant_id = $1', values: [TENANT] });
  });

  it('numbers the parameters in order of their values', () => {
    expect(conditionOf(TENANT, { status: 'error', apiKeyId: 'the-key' })).toEqual({
      sql: 'tenant_id = $1 AND status = $2 AND api_key_id = $3::uuid',
      values: [TENANT, 'error', 'the-key'],
    });
  });

  it('keeps a hostile model out of the SQL and searches for its stored form', () => {
    expect(conditionOf(TENANT, { model: `x'; DROP TABLE request_logs;\u0000` })).toEqual({
      sql: 'tenant_id = $1 AND model = $2',
      values: [TENANT, `x'; DROP TABLE request_logs;\\u0000`],
    });
  });

  it('searches for an empty model rather than any', () => {
    expect(conditionOf(TENANT, { model: '' }).values).toEqual([TENANT, '']);
  });
});
