import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../src/app/migrations.js';
import { databaseOptions } from '../../src/platform/database/database-options.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('migrations', () => {
  let empty: TestDatabase;
  let migrating: DataSource;

  beforeAll(async () => {
    empty = await createTestDatabase({ migrate: false });
    const options = { ...databaseOptions(empty.url), migrations: MIGRATIONS };
    migrating = await new DataSource(options).initialize();
  });
  afterAll(async () => {
    await migrating.destroy();
    await empty.drop();
  });

  /** Everything in the schema but TypeORM's own record of migrations, as sorted text. */
  const describeSchema = async (): Promise<string[]> => {
    const { rows } = await empty.database.query<{ line: string }>(`
      SELECT format('column %s.%s %s %s %s', table_name, column_name, data_type, is_nullable,
                    column_default) AS line
        FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name <> 'migrations'
      UNION ALL
      SELECT 'index ' || indexdef FROM pg_indexes
       WHERE schemaname = 'public' AND tablename <> 'migrations'
      UNION ALL
      SELECT format('constraint %s %s', conname, pg_get_constraintdef(oid)) FROM pg_constraint
       WHERE connamespace = 'public'::regnamespace AND conrelid <> 'migrations'::regclass
      UNION ALL
      SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
      UNION ALL
      SELECT 'trigger ' || tgname FROM pg_trigger WHERE NOT tgisinternal
      ORDER BY line`);
    return rows.map(({ line }) => line);
  };

  it('go up, all the way down to nothing, and up again to the same schema', async () => {
    await migrating.runMigrations();
    const first = await describeSchema();
    expect(first.length).toBeGreaterThan(50);

    for (let count = 0; count < MIGRATIONS.length; count++) {
      await migrating.undoLastMigration();
    }
    expect(await describeSchema()).toEqual([]);

    await migrating.runMigrations();
    expect(await describeSchema()).toEqual(first);
  });

  it('refuse changes of ledger entries', async () => {
    const tenantId = 'b2f1e0c4-0000-4000-8000-000000000001';
    await empty.database.query(
      `INSERT INTO ledger_entries (tenant_id, kind, amount) VALUES ($1, 'grant', 5)`,
      [tenantId],
    );
    for (const change of [
      `UPDATE ledger_entries SET amount = 6`,
      `DELETE FROM ledger_entries`,
      `TRUNCATE ledger_entries`,
    ]) {
      await expect(empty.database.query(change)).rejects.toMatchObject({ code: '23000' });
    }
  });
});
