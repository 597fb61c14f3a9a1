import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import {
  ArchiveBucket,
  ArchiveUnavailableError,
} from '../../src/core/request-log/archive/archive-bucket.js';
import { ARCHIVED_COLUMNS } from '../../src/core/request-log/archive/archive-format.js';
import { RequestLogArchive } from '../../src/core/request-log/archive/request-log-archive.js';
import { RequestLogArchiveService } from '../../src/operator/archive/request-log-archive.service.js';
import { priceSnapshotOf, storeSnapshots } from '../../src/core/ledger/receipts/price-snapshot.js';
import { FREE, UNITS_PER_CREDIT } from '../../src/canonical/exact-pricing.js';
import { ReceiptReader } from '../../src/core/ledger/receipts/receipt.reader.js';
import { LedgerRetentionService } from '../../src/core/ledger/ledger-retention.service.js';
import { RequestLogAnalyticsReader } from '../../src/core/request-log/request-log-analytics.reader.js';
import {
  readSnapshot,
  type RequestLogFilters,
  type TenantLogFilters,
} from '../../src/core/request-log/request-log-filters.js';
import { type LogPlace, readDimensions } from '../../src/core/request-log/log-dimensions.js';
import { RequestLogGroupsReader } from '../../src/core/request-log/request-log-groups.reader.js';
import { RequestLogOverTenantsReader } from '../../src/core/request-log/request-log-over-tenants.reader.js';
import { RequestLogReader } from '../../src/core/request-log/request-log.reader.js';
import { RequestLogRetentionService } from '../../src/core/request-log/request-log-retention.service.js';
import type { RequestLogRow } from '../../src/core/request-log/request-log-row.js';
import type { Database } from '../../src/platform/database/database.js';
import { withShortLocks } from '../../src/platform/database/month-partitions.js';
import { mintRequestId } from '../../src/platform/http/request-id.js';
import { rollUpAll } from '../support/roll-up-all.js';
import { insertRequestLogRow } from '../support/request-log-rows.js';
import { startTestS3, type TestS3 } from '../support/s3-server.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const NOW = new Date('2026-07-15T12:00:00Z');
const [LARGE, SMALL, OTHER] = [randomUUID(), randomUUID(), randomUUID()];
const KEYS = [randomUUID(), randomUUID()];
/** An id that does not exist. */
const UNKNOWN_SHEET = randomUUID();
const SHEET = priceSnapshotOf({ pricing: { ...FREE, prompt: 2n * UNITS_PER_CREDIT } });
const MODELS = ['sandbox/echo', 'a\u0000b \ud800 "é😀"', ''];

let folder: string;
let s3: TestS3;
let testDatabase: TestDatabase;
let database: Database;
let bucket: ArchiveBucket;
let reader: RequestLogReader;
let analytics: RequestLogAnalyticsReader;
let requestGroups: RequestLogGroupsReader;
let overTenants: RequestLogOverTenantsReader;
let receipts: ReceiptReader;

/** Small files, so that a few rows fill many of them, with many groups each. */
class SmallFiles extends RequestLogArchiveService {
  protected override readonly sizes = { file: 60, group: 20 };
}

const archiver = (through = bucket, logArchiveAfterDays = 31) =>
  new SmallFiles(database, through, { s3: s3.config, logArchiveAfterDays });
const readers = (through: ArchiveBucket) => {
  const archive = new RequestLogArchive(through);
  return {
    reader: new RequestLogReader(database, archive),
    analytics: new RequestLogAnalyticsReader(database, archive),
    requestGroups: new RequestLogGroupsReader(database, archive),
    overTenants: new RequestLogOverTenantsReader(database, archive),
    receipts: new ReceiptReader(new RequestLogReader(database, archive), database),
  };
};
/** A bucket on an unreachable server. */
const unreachableBucket = () =>
  new ArchiveBucket({ s3: { ...s3.config, endpoint: 'http://127.0.0.1:9', redirect: false } });

beforeAll(async () => {
  Logger.overrideLogger(false);
  folder = await mkdtemp(join(tmpdir(), 'gateway-archive-'));
  s3 = await startTestS3(folder);
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
  bucket = new ArchiveBucket({ s3: s3.config });
  ({ reader, analytics, requestGroups, overTenants, receipts } = readers(bucket));
  await database.query(`SELECT make_month_partitions('2026-02-01', '2026-07-01')`);
});
afterAll(async () => {
  await bucket.onApplicationShutdown();
  await s3.stop();
  await testDatabase.drop();
  await rm(folder, { recursive: true, force: true });
});

const insert = (tenantId: string, time: string, row: Partial<RequestLogRow> = {}) =>
  insertRequestLogRow(database, tenantId, {
    requestId: mintRequestId(Date.parse(time)),
    createdAt: new Date(time),
    ...row,
  });

async function isThere(table: string): Promise<boolean> {
  const { rows } = await database.query<{ found: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS found',
    [table],
  );
  return rows[0]!.found;
}

async function archivedFiles(month: string): Promise<{ key: string; rows: number }[]> {
  const { rows } = await database.query<{ key: string; rows: number }>(
    'SELECT key, rows FROM archived_request_logs WHERE month = $1 ORDER BY key',
    [`${month}-01`],
  );
  return rows;
}

/** Returns a month's objects in the bucket, whether the database lists them or not. */
async function objects(month: string): Promise<string[]> {
  const names = await readdir(join(folder, 'gateway/request-logs/v1', month)).catch(() => []);
  return [...new Set(names.map((name) => name.replace(/\._S3rver.*/, '')))].sort();
}

async function exported(tenantId: string, range: Pick<RequestLogFilters, 'start' | 'end'>) {
  const rows: RequestLogRow[] = [];
  for await (const batch of reader.batchesOfTenant(tenantId, range, 41)) {
    expect(batch.length).toBeLessThanOrEqual(41);
    rows.push(...batch);
  }
  return rows;
}

const at = (time: string) => new Date(time);
/** Everything, whole days, partial hours and months, and beyond all rows. */
const RANGES: Pick<RequestLogFilters, 'start' | 'end'>[] = [
  {},
  { start: at('2026-05-02T00:00:00Z'), end: at('2026-05-03T00:00:00Z') },
  { start: at('2026-05-01T09:20:00Z'), end: at('2026-05-03T10:40:00Z') },
  { start: at('2026-05-02T10:07:00Z'), end: at('2026-05-02T10:38:00.001Z') },
  { start: at('2026-05-04T00:30:00Z') },
  { end: at('2026-05-02T10:15:00Z') },
];
const FILTERS: RequestLogFilters[] = [
  { status: 'error' },
  { model: MODELS[1] },
  { apiKeyId: KEYS[1]!.toUpperCase() },
  { tags: { team: 'a\\' }, provider: 'two' },
  { endUser: 'b\\ob' },
];

const LISTS: TenantLogFilters[] = [
  ...RANGES,
  ...FILTERS,
  { tenantId: SMALL },
  { minCost: 9_000_000_000_100 },
];

/** Returns the list over all tenants, page by page. */
async function listed(filters: TenantLogFilters) {
  const found = [];
  let after: LogPlace | undefined;
  do {
    const page = await overTenants.page(filters, after, 50);
    expect(page.rows.length).toBeLessThanOrEqual(50);
    found.push(...page.rows);
    after = page.next;
  } while (after);
  return found;
}

/** Returns the answers to all queries of a tenant's log. */
async function answers(tenantId: string, ids: string[]) {
  const found = [];
  for (const [turn, range] of RANGES.entries()) {
    for (const offset of turn === 0 ? [0, 50, 500] : [0, 50]) {
      found.push(await reader.pageOfTenant(tenantId, range, { limit: 9, offset }));
    }
    // Each one alone, and within some of the ranges.
    for (const filters of FILTERS.filter((_, own) => turn === 0 || (own + turn) % 3 === 0)) {
      const page = { limit: 9, offset: 3 };
      found.push(await reader.pageOfTenant(tenantId, { ...filters, ...range }, page));
    }
    found.push(await exported(tenantId, range));
    for (const grouping of ['model', 'hour', 'status'] as const) {
      found.push(await analytics.groupsOfTenant(tenantId, grouping, range));
    }
    const dimensions = readDimensions('tag:team,end_user');
    found.push(await requestGroups.groups({ tenantId, dimensions, filters: {}, range, limit: 99 }));
  }
  for (const id of ids) {
    found.push(await reader.findByRequestId(tenantId, id));
    found.push(await receipts.find(tenantId, id));
  }
  return found;
}

describe('the archive of the request log', () => {
  const ids: string[] = [];
  let billed: string;

  beforeAll(async () => {
    const bill = { priceSheet: SHEET.id, promptTokens: 10, cost: 20, modelCharge: 20 };
    ({ requestId: billed } = await insert(LARGE, '2026-05-03T12:34:56Z', bill));
    ids.push(billed);
    for (const { text, values } of storeSnapshots([SHEET])) await database.query(text, values);
    await database.query(
      `INSERT INTO ledger_entries (tenant_id, kind, amount, request_id) VALUES ($1, 'refund', 3, $2)`,
      [LARGE, billed],
    );
    for (let index = 0; index < 150; index++) {
      const time = new Date(Date.UTC(2026, 4, 1 + (index % 4), 9 + (index % 3), (index * 7) % 60));
      const failed = index % 7 === 0;
      const { requestId } = await insert(LARGE, time.toISOString(), {
        ...(index % 5 === 0 && {
          priceSheet: UNKNOWN_SHEET,
          otherUsage: '{"images":2}',
          shortfall: 4,
          configVersion: 7,
        }),
        apiKeyId: KEYS[index % 2],
        model: MODELS[index % 3],
        provider: index % 3 === 0 ? 'one' : 'two',
        status: failed ? 'error' : 'success',
        outcome: failed ? 'failed' : 'completed',
        errorType: failed ? 'literal \\u0000' : null,
        finishReason: failed ? null : 'stop',
        cost: 9_000_000_000_000 + index,
        modelCharge: 9_000_000_000_000 + index,
        promptTokens: index,
        latencyMs: index * 10,
        ...(index % 4 > 0 && {
          vendorCost: 3 * index,
          firstTokenMs: index,
          endUser: index % 4 === 1 ? 'ann' : 'b\\ob',
          tags: { team: index % 3 === 0 ? 'a\\' : 'b', env: 'é "x"' },
          attempts: [
            {
              route: 'one/a',
              outcome: 'rate_limited',
              status: 429,
              started_ms: 1,
              duration_ms: 2,
              vendor_cost: 0,
            },
          ],
        }),
      });
      if (index % 29 === 0) ids.push(requestId);
    }
    // Rows between the archived ones: with ids from before the months, and of the following month.
    for (let index = 0; index < 20; index++) {
      const minute = String(index).padStart(2, '0');
      await insert(LARGE, `2026-05-02T10:${minute}:30Z`, { requestId: randomUUID() });
      await insert(LARGE, `2026-06-15T10:${minute}:30Z`);
    }
    ids.push((await insert(SMALL, '2026-05-31T23:59:59.999Z')).requestId);
    await insert(OTHER, '2026-07-01T00:00:00Z');
    // The order depends on microseconds.
    await database.query(
      `UPDATE request_logs SET created_at = created_at + (id % 7) * interval '1 microsecond'
       WHERE tenant_id = $1`,
      [LARGE],
    );
  });

  it('has every column of the table', async () => {
    const { rows } = await database.query<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'request_logs'`,
    );
    expect(rows.map(({ name }) => name).sort()).toEqual([...ARCHIVED_COLUMNS].sort());
  });

  it('waits for rows that are not rolled up, and for open requests', async () => {
    expect(await archiver().sweepNow(NOW)).toBe(0);
    await rollUpAll(database);
    await database.query(
      `INSERT INTO holds (request_id, tenant_id, instance_id, amount, api_key_id, endpoint, model,
         provider, streamed, created_at)
       VALUES ($1, $2, $2, 1, $2, 'chat', '', '', false, now())`,
      [mintRequestId(Date.parse('2026-05-09T12:00:00Z')), SMALL],
    );
    expect(await archiver().sweepNow(NOW)).toBe(0);
    await database.query('DELETE FROM holds');
    expect(await isThere('request_logs_2026_05')).toBe(true);
    expect(await archivedFiles('2026-05')).toEqual([]);
  });

  it('answers every query as the database did', async () => {
    const all = async (filterSets = LISTS) => {
      const lists = [];
      for (const filters of filterSets) lists.push(await listed(filters));
      return lists;
    };
    const before = [await answers(LARGE, ids), await answers(SMALL, ids), await all()];
    expect(before[2]![0]).toHaveLength(193);
    expect(await receipts.find(LARGE, billed)).toMatchObject({
      prices: { id: SHEET.id, usd: { prompt: '0.000002' } },
      arithmetic: { rounded: 20 },
      refunds: [{ amount: 3 }],
    });
    expect(await archiver(bucket, 75).sweepNow(NOW)).toBe(0);
    expect(await archiver().sweepNow(NOW)).toBe(152);
    expect(await isThere('request_logs_2026_05')).toBe(false);
    expect(await isThere('request_logs_2026_06')).toBe(true);
    const files = await archivedFiles('2026-05');
    expect(files.map(({ rows }) => rows).sort()).toEqual([32, 60, 60]);

    expect([await answers(LARGE, ids), await answers(SMALL, ids), await all()]).toEqual(before);
    // With few rows read per page, no row is missed or repeated.
    overTenants.walkedRows = 11;
    const isEven = (_: unknown, place: number) => place % 2 === 0;
    expect(await all(LISTS.filter(isEven))).toEqual(before[2]!.filter(isEven));
    overTenants.walkedRows = 200_000;
    expect(await archiver().sweepNow(NOW)).toBe(0);
  });

  it('shows nothing to other tenants', async () => {
    for (const id of ids.slice(0, 3)) {
      expect(await reader.findByRequestId(SMALL, id)).toBeUndefined();
      expect(await reader.findByRequestId(OTHER, id)).toBeUndefined();
    }
    const page = await reader.pageOfTenant(OTHER, {}, { limit: 100, offset: 0 });
    expect(page).toMatchObject({ total: 1, rows: [{ createdAt: at('2026-07-01T00:00:00Z') }] });
    expect(await exported(OTHER, { end: at('2026-06-30T00:00:00Z') })).toEqual([]);
  });

  it('stores late rows of an archived month', async () => {
    const late = await insert(SMALL, '2026-05-20T08:00:00Z');
    expect(await reader.findByRequestId(SMALL, late.requestId)).toEqual(late);
    expect((await exported(SMALL, {})).map(({ id }) => id)).toContain(late.id);
    expect(await exported(SMALL, {})).toHaveLength(2);
  });

  it('reports an outage only to queries that need it', async () => {
    const without = readers(unreachableBucket());
    const refusal = { status: 503, retryAfterSeconds: 30 };
    const first = { limit: 5, offset: 0 };
    const cut = { end: at('2026-05-02T10:15:00Z') };
    await expect(without.reader.findByRequestId(LARGE, ids[0]!)).rejects.toMatchObject(refusal);
    await expect(without.reader.pageOfTenant(LARGE, cut, first)).rejects.toMatchObject(refusal);
    await expect(without.overTenants.page(cut, undefined, 5)).rejects.toMatchObject(refusal);
    await expect(without.receipts.find(LARGE, billed)).rejects.toMatchObject(refusal);
    await expect(without.analytics.groupsOfTenant(LARGE, 'model', cut)).rejects.toMatchObject(
      refusal,
    );
    expect(await without.reader.findByRequestId(LARGE, randomUUID())).toBeUndefined();
    expect((await without.reader.pageOfTenant(LARGE, {}, first)).rows).toHaveLength(5);
    expect((await without.overTenants.page({}, undefined, 5)).rows).toHaveLength(5);
    expect(await without.analytics.groupsOfTenant(LARGE, 'day', {})).toHaveLength(5);
  });

  it('keeps the ledger months whose requests it has', async () => {
    const retention = new LedgerRetentionService(database, { ledgerRetentionDays: 31 });
    await retention.sweepNow(NOW);
    expect(await isThere('ledger_entries_2026_05')).toBe(true);
  });
});

describe('archiving', () => {
  const month = async (number: number): Promise<string> => {
    for (let day = 10; day < 28; day++) await insert(SMALL, `2026-0${number}-${day}T12:00:00Z`);
    await rollUpAll(database);
    return `2026-0${number}`;
  };

  it('happens once when two instances try', async () => {
    await month(4);
    const moving = Promise.all([archiver().sweepNow(NOW), archiver().sweepNow(NOW)]);
    let isMoving = true;
    const ended = moving.finally(() => (isMoving = false));
    // Concurrent readers miss no row and see none twice.
    const range = { start: at('2026-04-10T11:30:00Z'), end: at('2026-04-27T12:30:00Z') };
    while (isMoving) {
      const { rows, total } = await reader.pageOfTenant(SMALL, range, { limit: 30, offset: 0 });
      expect([total, new Set(rows.map(({ id }) => id)).size, rows.length]).toEqual([18, 18, 18]);
      expect(await exported(SMALL, range)).toEqual(rows);
    }
    expect((await ended).sort()).toEqual([0, 18]);
    expect(await archivedFiles('2026-04')).toMatchObject([{ rows: 18 }]);
    expect(await objects('2026-04')).toHaveLength(1);
  });

  it('drops nothing while the bucket is unavailable, fails, or holds other content', async () => {
    await month(3);
    class Broken extends ArchiveBucket {
      override read(): Promise<ArrayBuffer> {
        return Promise.reject(new Error('the machine died'));
      }
    }
    class Changed extends ArchiveBucket {
      override put(name: string, bytes: Uint8Array): Promise<string> {
        return super.put(
          name,
          Uint8Array.from(bytes, (byte, place) => (place === 700 ? 1 - byte : byte)),
        );
      }
    }
    for (const broken of [
      unreachableBucket(),
      new Broken({ s3: s3.config }),
      new Changed({ s3: s3.config }),
    ]) {
      await expect(archiver(broken).sweepNow(NOW)).rejects.toThrow();
      await broken.onApplicationShutdown();
      expect(await archivedFiles('2026-03')).toEqual([]);
      expect(await isThere('request_logs_2026_03')).toBe(true);
    }
    const stored = await objects('2026-03');
    expect(await archiver().sweepNow(NOW)).toBe(18);
    // The same file as the one stored before the crash.
    expect(await objects('2026-03')).toEqual(stored);
  });

  it('waits for readers with a snapshot of the log', async () => {
    const drop = () =>
      withShortLocks(database, (client) =>
        client.query('LOCK TABLE ONLY request_logs_months IN ACCESS EXCLUSIVE MODE'),
      );
    // The snapshot has read the list of months, but none of their rows.
    expect(await readSnapshot(database, () => drop())).toBeUndefined();
    expect(await drop()).toBeDefined();
  });

  it('drops nothing when a row changes meanwhile', async () => {
    await month(2);
    class Slow extends ArchiveBucket {
      override async put(name: string, bytes: Uint8Array): Promise<string> {
        await database.query(`UPDATE request_logs_2026_02 SET flagged = true WHERE id = (
          SELECT max(id) FROM request_logs_2026_02)`);
        return super.put(name, bytes);
      }
    }
    const slow = new Slow({ s3: s3.config });
    expect(await archiver(slow).sweepNow(NOW)).toBe(0);
    await slow.onApplicationShutdown();
    expect(await isThere('request_logs_2026_02')).toBe(true);
    await rollUpAll(database);
    expect(await archiver().sweepNow(NOW)).toBe(18);
  });

  it('ends with the log’s retention, once every row of a file is hidden', async () => {
    const retention = new RequestLogRetentionService(database, { logRetentionDays: 75 });
    const listed = await reader.pageOfTenant(SMALL, {}, { limit: 100, offset: 0 });
    expect(listed.rows).toHaveLength(56);
    await retention.sweepNow(NOW);
    const unreachable = archiver(unreachableBucket(), 0);
    await expect(unreachable.sweepNow(NOW)).rejects.toThrow(ArchiveUnavailableError);
    expect(await archivedFiles('2026-02')).toHaveLength(1);
    await archiver(bucket, 0).sweepNow(NOW);
    for (const each of ['2026-02', '2026-03', '2026-04']) {
      expect(await archivedFiles(each)).toEqual([]);
    }
    expect(await objects('2026-04')).toEqual([]);
    expect(await archivedFiles('2026-05')).toHaveLength(3);
    expect(await exported(SMALL, {})).toHaveLength(2);
  });
});
