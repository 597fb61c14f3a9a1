import 'reflect-metadata';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { AuditLog, type AuditChange } from '../../src/core/audit/audit-log.js';
import { AuditLogRetentionService } from '../../src/core/audit/audit-log-retention.service.js';
import { AuditLogEntryEntity } from '../../src/core/audit/audit-log-entry.entity.js';
import { AuditLogReader, type AuditLogFilters } from '../../src/core/audit/audit-log.reader.js';
import type { Author } from '../../src/core/access/author.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const AUTHOR: Author = {
  actor: { kind: 'api_key', id: '7b0c2a52-3f0a-4b39-9d0f-0f9d2b6f1a01', name: 'a \u0000 key' },
  requestId: '1f2c1f6e-52a5-4a4e-8d8e-3c1d3a7b9f02',
};
const CHANGE: AuditChange = {
  tenantId: null,
  action: 'thing.update',
  target: { type: 'thing', id: 'one' },
  before: { name: 'was \ud800' },
  after: { name: 'is \\ \u0000', 'a\u0000': ['\u0000', 1, null, { '\u0000': '' }] },
};

describe(AuditLog.name, () => {
  let own: TestDatabase;
  const audit = new AuditLog();
  const count = async (): Promise<number> =>
    (await own.database.query('SELECT FROM audit_log')).rows.length;

  beforeAll(async () => (own = await createTestDatabase()));
  afterAll(() => own.drop());
  beforeEach(() => own.database.query("SELECT forget_audit_log(now() + interval '1 day', 100)"));

  it('accepts any text in a change', async () => {
    await audit.record(own.database, AUTHOR, CHANGE);
    const { rows } = await own.database.query('SELECT * FROM audit_log');
    expect(rows).toEqual([
      expect.objectContaining({
        actor_name: 'a \\u0000 key',
        before: { name: 'was \\ud800' },
        after: { name: 'is \\\\ \\u0000', 'a\\u0000': ['\\u0000', 1, null, { '\\u0000': '' }] },
        request_id: AUTHOR.requestId,
      }),
    ]);
  });

  it('has no row for a change that was rolled back', async () => {
    const change = own.database.transaction(async (client) => {
      await audit.record(client, AUTHOR, CHANGE);
      throw new Error('no');
    });
    await expect(change).rejects.toThrow('no');
    expect(await count()).toBe(0);
  });

  it.each([
    `UPDATE audit_log SET action = 'none'`,
    'DELETE FROM audit_log',
    'TRUNCATE audit_log',
    // The function's permission ends with it.
    `SELECT forget_audit_log('2020-01-01', 1); DELETE FROM audit_log`,
  ])('refuses %s', async (statement) => {
    await audit.record(own.database, AUTHOR, CHANGE);
    await expect(own.database.query(statement)).rejects.toThrow('audit_log is append-only');
    expect(await count()).toBe(1);
  });

  it('deletes the oldest rows beyond the retention, in limited batches', async () => {
    for (let row = 0; row < 3; row++) await audit.record(own.database, AUTHOR, CHANGE);
    const forget = async (olderThan: string): Promise<unknown> =>
      (
        await own.database.query<{ forgotten: number }>(
          `SELECT forget_audit_log(${olderThan}, 2) AS forgotten`,
        )
      ).rows[0]?.forgotten;
    expect(await forget("now() - interval '1 day'")).toBe(0);
    expect(await forget("now() + interval '1 day'")).toBe(2);
    expect(await count()).toBe(1);
  });

  it('is swept according to the setting, and never without it', async () => {
    for (let row = 0; row < 3; row++) await audit.record(own.database, AUTHOR, CHANGE);
    const sweep = (auditRetentionDays: number, days: number): Promise<number> =>
      new AuditLogRetentionService(own.database, { auditRetentionDays }).sweepNow(
        new Date(Date.now() + days * 86_400_000),
      );
    expect(await sweep(0, 10_000)).toBe(0);
    expect(await sweep(30, 29)).toBe(0);
    expect(await sweep(30, 31)).toBe(3);
    expect(await count()).toBe(0);
  });
});

describe(AuditLogReader.name, () => {
  let own: TestDatabase;
  const [TENANT, OTHER] = [randomUUID(), randomUUID()];
  const RARE = { actorId: randomUUID(), requestId: randomUUID() };

  beforeAll(async () => {
    own = await createTestDatabase();
    // The rare rows are the oldest, so a scan from the newest would read all others.
    await own.database.query(
      `INSERT INTO audit_log (created_at, actor_kind, actor_id, actor_name, tenant_id, action,
           target_type, target_id, request_id)
         SELECT now() - make_interval(hours => 1, secs => -i),
           CASE WHEN is_rare THEN 'command' ELSE 'api_key' END,
           CASE WHEN is_rare THEN $1 ELSE $2 END, '', CASE WHEN i % 2 = 0 THEN $3 ELSE $4 END::uuid,
           CASE WHEN is_rare THEN 'rare.create' ELSE 'key.create' END,
           CASE WHEN is_rare THEN 'rare' ELSE 'key' END,
           CASE WHEN is_rare THEN 'rare' ELSE i::text END,
           CASE WHEN is_rare THEN $5::uuid ELSE gen_random_uuid() END
         FROM generate_series(1, 20000) AS i CROSS JOIN LATERAL (SELECT i <= 4 AS is_rare) AS kind`,
      [RARE.actorId, randomUUID(), TENANT, OTHER, RARE.requestId],
    );
    await own.database.query('ANALYZE audit_log');
  });

  afterAll(() => own.drop());

  /** Returns how many rows PostgreSQL read and discarded for a page, and how many it returned. */
  async function walk(filters: AuditLogFilters): Promise<{ found: number; left: number }> {
    const entries = own.dataSource.getRepository(AuditLogEntryEntity);
    const query = entries.createQueryBuilder('entry');
    jest.spyOn(entries, 'createQueryBuilder').mockReturnValue(query);
    const found = await new AuditLogReader(entries).page(filters, 50);
    const [text, values] = query.getQueryAndParameters();
    const { rows } = await own.database.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
    const [plan] = rows;
    const counts = JSON.stringify(plan).matchAll(/"Rows Removed by [^"]*":(\d+)/g);
    return {
      found: found.length,
      left: [...counts].reduce((sum, [, rows]) => sum + Number(rows), 0),
    };
  }

  it.each<[keyof AuditLogFilters, string]>([
    ['actorKind', 'command'],
    ['actorId', RARE.actorId],
    ['action', 'rare.create'],
    ['targetType', 'rare'],
    ['targetId', 'rare'],
    ['requestId', RARE.requestId],
  ])('finds rows by %s without reading the others', async (name, value) => {
    expect(await walk({ [name]: value })).toEqual({ found: 4, left: 0 });
    const { found, left } = await walk({ [name]: value, tenantId: TENANT });
    expect(found).toBe(2);
    expect(left).toBeLessThanOrEqual(2);
  });
});
