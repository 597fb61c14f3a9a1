import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { PartitionByMonth1764383000000 } from '../../migrations/1764383000000-partition-by-month.js';
import { ScopeWhatKeysStore1764530000000 } from '../../migrations/1764530000000-scope-what-keys-store.js';
import { ForgetUnverifiedAddresses1764550000000 } from '../../migrations/1764550000000-forget-unverified-addresses.js';
import { MIGRATIONS } from '../../src/platform/database/migrations.js';
import { migrateDatabase } from '../../src/platform/database/migrate-database.js';
import { databaseOptions } from '../../src/platform/database/database-options.js';
import type { RequestLogRow } from '../../src/core/request-log/request-log-row.js';
import { mintRequestId } from '../../src/platform/http/request-id.js';
import { insertRequestLogRow } from '../support/request-log-rows.js';
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

  /** Everything in the schema except TypeORM's record of migrations, as sorted text. */
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

  it('go up, all the way down, and up again to the same schema', async () => {
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

  it('merge the months on the way down with all rows, and partition again', async () => {
    const ids = [randomUUID(), mintRequestId(), mintRequestId(Date.UTC(2024, 0))];
    const later = MIGRATIONS.slice(MIGRATIONS.indexOf(PartitionByMonth1764383000000));
    const rows: RequestLogRow[] = [];
    const tenantId = randomUUID();
    const insert = async (requestId: string) => {
      rows.push(await insertRequestLogRow(empty.database, tenantId, { requestId }));
      await empty.database.query(
        `INSERT INTO ledger_entries (tenant_id, kind, amount, request_id) VALUES ($1, 'charge', -1, $2)`,
        [tenantId, requestId],
      );
    };
    for (const requestId of ids) await insert(requestId);
    const stored = async () => {
      const result = await empty.database.query(
        `SELECT log.id::text, request_id AS "requestId", kind, amount
         FROM request_logs AS log JOIN ledger_entries USING (request_id) ORDER BY log.id`,
      );
      return result.rows;
    };
    const statements = () =>
      rows.map(({ id, requestId }) => ({ id, requestId, kind: 'charge', amount: -1 }));
    expect(await stored()).toEqual(statements());
    for (const direction of ['down', 'up']) {
      if (direction === 'up') await migrating.runMigrations();
      else for (const _ of later) await migrating.undoLastMigration();
      expect(await stored()).toEqual(statements());
      await expect(insert(ids[1]!)).rejects.toMatchObject({ code: '23505' });
      await insert(randomUUID());
    }
    expect(rows.map(({ id }) => Number(id))).toEqual(
      [...rows].map(({ id }) => Number(id)).sort((left, right) => left - right),
    );
    // It is run again after an interruption.
    const runner = migrating.createQueryRunner();
    await new PartitionByMonth1764383000000().up(runner);
    await runner.release();
    expect(await stored()).toEqual(statements());
    await empty.database.query('DELETE FROM request_logs');
  });

  it('scope resources stored by a routing key to the key named in the audit log', async () => {
    const { database } = empty;
    const later = MIGRATIONS.slice(MIGRATIONS.indexOf(ScopeWhatKeysStore1764530000000));
    for (let count = 0; count < later.length; count++) await migrating.undoLastMigration();
    const insert = async (sql: string, values: unknown[] = []): Promise<string> =>
      (await database.query<{ id: string }>(`${sql} RETURNING id`, values)).rows[0]!.id;
    const tenantId = await insert(`INSERT INTO tenants (name) VALUES ('scoped')`);
    const insertKey = (type: string, madeBy: string) =>
      insert(
        `INSERT INTO api_keys (tenant_id, type, made_by, name, key_hash, key_preview, rate_limit_per_minute)
         VALUES ($1, $2, $3, 'key', sha256(gen_random_uuid()::text::bytea), 'sk-', 1)`,
        [tenantId, type, madeBy],
      );
    const insertAccount = (madeBy: string) =>
      insert(
        `INSERT INTO provider_credentials
           (id, tenant_id, provider, sealed_key, key_preview, settings, allow_shared_fallback, made_by)
         VALUES (gen_random_uuid(), $1, 'openai', '', '', '{}', false, $2)`,
        [tenantId, madeBy],
      );
    const audit = (kind: string, actor: string, action: string, target: string) =>
      database.query(
        `INSERT INTO audit_log (actor_kind, actor_id, actor_name, tenant_id, action, target_type, target_id)
         VALUES ($1, $2, 'Ada', $3, $4, '', $5)`,
        [kind, actor, tenantId, action, target],
      );
    const person = await insert(
      `INSERT INTO people (issuer, subject, name) VALUES ('i', gen_random_uuid(), 'Ada')`,
    );
    await database.query(
      `INSERT INTO memberships (person_id, tenant_id, role) VALUES ($1, $2, 'developer')`,
      [person, tenantId],
    );
    const key = await insertKey('routing', 'management');
    const operators = await insertKey('management', 'operator');
    const started = await insertKey('management', 'operator');
    await audit('person', person, 'api_key.create', key);
    await audit('admin_key', 'admin', 'api_key.create', operators);
    await audit('bootstrap', 'start', 'api_key.create', started);
    const known = await insertAccount('routing');
    const unknown = await insertAccount('routing');
    const management = await insertAccount('management');
    await audit('api_key', key, 'provider_credential.create', known);
    await audit('api_key', operators, 'provider_credential.create', management);
    await migrating.runMigrations();
    const scopes = await database.query(
      'SELECT id, scope_key_id FROM provider_credentials WHERE tenant_id = $1',
      [tenantId],
    );
    expect(new Map(scopes.rows.map(({ id, scope_key_id }) => [id, scope_key_id]))).toEqual(
      new Map([
        [known, key],
        [unknown, null],
        [management, null],
      ]),
    );
    const bounds = await database.query(
      'SELECT id, withheld_rights, bound_by_person_id FROM api_keys WHERE tenant_id = $1 ORDER BY created_at, id',
      [tenantId],
    );
    expect(bounds.rows).toEqual(
      expect.arrayContaining([
        { id: key, withheld_rights: [], bound_by_person_id: person },
        { id: operators, withheld_rights: ['content'], bound_by_person_id: null },
        { id: started, withheld_rights: [], bound_by_person_id: null },
      ]),
    );
  });

  it('clear addresses that may be unverified', async () => {
    const { database } = empty;
    const later = MIGRATIONS.slice(MIGRATIONS.indexOf(ForgetUnverifiedAddresses1764550000000));
    for (let count = 0; count < later.length; count++) await migrating.undoLastMigration();
    await database.query(
      `INSERT INTO people (issuer, subject, name, email) VALUES ('i', 'kate', 'Kate', 'kate@acme.example')`,
    );
    await migrating.runMigrations();
    const { rows } = await database.query(`SELECT name, email FROM people WHERE subject = 'kate'`);
    expect(rows).toEqual([{ name: 'Kate', email: null }]);
  });

  it('are run by one of several instances that start at once, while the others wait', async () => {
    const fresh = await createTestDatabase({ migrate: false });
    await Promise.all([1, 2, 3].map(() => migrateDatabase(fresh.url, MIGRATIONS)));
    const { rows } = await fresh.database.query('SELECT name FROM migrations');
    expect(rows).toHaveLength(MIGRATIONS.length);
    await fresh.drop();
  });

  it('forbid changes of ledger entries', async () => {
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
