import 'reflect-metadata';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AuditLog, type AuditChange } from '../../src/core/audit/audit-log.js';
import { AuditLogRetentionService } from '../../src/core/audit/audit-log-retention.service.js';
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

  it('takes whatever text a change has', async () => {
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

  it('has no row of a change that was rolled back', async () => {
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
    // The function's leave ends with it.
    `SELECT forget_audit_log('2020-01-01', 1); DELETE FROM audit_log`,
  ])('refuses %s', async (statement) => {
    await audit.record(own.database, AUTHOR, CHANGE);
    await expect(own.database.query(statement)).rejects.toThrow('audit_log is append-only');
    expect(await count()).toBe(1);
  });

  it('forgets the oldest rows that are old enough, so many at once', async () => {
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

  it('is swept of what is older than the setting says, and of nothing without it', async () => {
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
