import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ERASED, KEPT } from '../../src/features/admin/tenants/tenant-data.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('tables with a tenant', () => {
  let own: TestDatabase;

  beforeAll(async () => {
    own = await createTestDatabase();
  });
  afterAll(() => own.drop());

  it('are each cleared when a tenant is deleted, or kept for a documented reason', async () => {
    const { rows } = await own.database.query<{ name: string }>(
      `SELECT relname::text AS name FROM pg_class
         JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'tenant_id'
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
          AND NOT attisdropped
        ORDER BY 1`,
    );
    const decided = [...Object.keys(ERASED), ...Object.keys(KEPT)].sort();
    expect(rows.map(({ name }) => name).sort()).toEqual(decided);
  });
});
