import { describe, expect, it } from '@jest/globals';
import { conditionOf } from './request-log-filters.js';

const TENANT = '7b0c2a52-3f0a-4b39-9d0f-0f9d2b6f1a01';

describe(conditionOf.name, () => {
  it('names the tenant even when nothing else is asked', () => {
    expect(conditionOf(TENANT, {})).toEqual({ sql: 'tenant_id = $1', values: [TENANT] });
  });

  it('numbers the parameters in the order of their values, whichever are given', () => {
    expect(conditionOf(TENANT, { status: 'error', apiKeyId: 'the-key' })).toEqual({
      sql: 'tenant_id = $1 AND status = $2 AND api_key_id = $3::uuid',
      values: [TENANT, 'error', 'the-key'],
    });
  });

  it('keeps a hostile model out of the SQL and looks for it in its stored form', () => {
    expect(conditionOf(TENANT, { model: `x'; DROP TABLE request_logs;\u0000` })).toEqual({
      sql: 'tenant_id = $1 AND model = $2',
      values: [TENANT, `x'; DROP TABLE request_logs;\\u0000`],
    });
  });

  it('looks for an empty model rather than for any', () => {
    expect(conditionOf(TENANT, { model: '' }).values).toEqual([TENANT, '']);
  });
});
