import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rollUpAll } from '../support/roll-up-all.js';
import { attempt, CATALOGUE_ROW, MODEL } from '../support/replay-environment.js';
import { ArchiveBucket } from '../../src/core/request-log/archive/archive-bucket.js';
import { RequestLogArchiveService } from '../../src/operator/archive/request-log-archive.service.js';
import { mintRequestId } from '../../src/platform/http/request-id.js';
import { startTestS3, type TestS3 } from '../support/s3-server.js';
import { runOperatorCommand } from '../support/operator-command.js';
import { insertRequestLogRow } from '../support/request-log-rows.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import type { Report } from '../../src/operator/replay/report.js';

const DAY = ['--from', '2026-01-13', '--to', '2026-01-14'];
const REQUESTS = 120;
const TABLES = ['request_logs', 'ledger_entries', 'accounts', 'holds', 'audit_log', 'instances'];
/** Credits of the poor tenant after its requests: enough for one more hold, not for a more expensive day. */
const POOR_LEFT = 14_000;

/** Makes a few rows fill many files of many groups each. */
class SmallFiles extends RequestLogArchiveService {
  protected override readonly sizes = { file: 60, group: 20 };
}

/** Cost of a request at openai and at azure. Each begins after the previous one has ended. */
const costsOf = (index: number) => ({
  openai: 500 + index + 2 * (40 + index),
  azure: 2 * (500 + index) + 3 * (40 + index),
});

/** Replays a day of the log of two tenants, one of which has few credits. */
describe('replay', () => {
  let testDatabase: TestDatabase;
  const folder = mkdtempSync(join(tmpdir(), 'replay-'));
  const catalogue = join(folder, 'catalogue.json');
  let cost = 0;
  let spentByEach = 0;

  let environment: Record<string, string>;

  beforeAll(async () => {
    writeFileSync(catalogue, JSON.stringify({ models: [CATALOGUE_ROW] }));
    testDatabase = await createTestDatabase();
    environment = { DATABASE_URL: testDatabase.url, GATEWAY_CATALOGUE: catalogue };
    await testDatabase.database.query(`SELECT make_month_partitions('2026-01-01', '2026-02-01')`);
    for (const [name, left] of [
      ['rich', 1_000_000_000],
      ['</script>poor', POOR_LEFT],
    ] as const) {
      await run('tenant', 'create', name);
      await run('key', 'create', name);
      await seed(name, left);
    }
  });

  afterAll(async () => {
    await testDatabase.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  function run(...words: string[]) {
    return runOperatorCommand(environment, ...words);
  }

  /** One request every 5 minutes, every tenth answered by the second provider. */
  async function seed(name: string, left: number): Promise<void> {
    const { database } = testDatabase;
    const { rows } = await database.query<{ tenant: string; key: string }>(
      `SELECT tenants.id AS tenant, api_keys.id AS key
       FROM tenants JOIN api_keys ON tenant_id = tenants.id WHERE tenants.name = $1`,
      [name],
    );
    const { tenant, key: apiKeyId } = rows[0]!;
    let spent = 0;
    for (let index = 0; index < REQUESTS; index++) {
      const provider = index % 10 === 9 ? 'azure' : 'openai';
      const charged = costsOf(index)[provider];
      spent += charged;
      const createdAt = new Date(Date.UTC(2026, 0, 13, 1) + index * 300_000);
      await insertRequestLogRow(database, tenant, {
        ...{ requestId: mintRequestId(createdAt.getTime()), createdAt },
        ...{ apiKeyId, provider, model: MODEL, cost: charged, modelCharge: charged },
        ...{ promptTokens: 500 + index, completionTokens: 40 + index, vendorCost: charged },
        ...{ firstTokenMs: 300, latencyMs: 1_300, generationTimeMs: 1_000, streamed: true },
        attempts: [attempt({ route: `${provider}/${MODEL}`, vendor_cost: charged })],
        // Every other row records options that have no effect here.
        otherUsage: index % 2 === 0 ? '{"asked":{"n":1}}' : null,
      });
    }
    cost += spent;
    spentByEach = spent;
    await database.query(
      `INSERT INTO ledger_entries (tenant_id, kind, amount, request_id, created_at)
       SELECT tenant_id, 'charge', -cost, request_id, created_at FROM request_logs WHERE tenant_id = $1`,
      [tenant],
    );
    await database.query(
      `INSERT INTO ledger_entries (tenant_id, kind, amount, created_at)
       VALUES ($1, 'grant', $2, '2026-01-12')`,
      [tenant, left + spent],
    );
    await database.query(
      'UPDATE accounts SET granted = $2, spent = $3, balance = $4 WHERE tenant_id = $1',
      [tenant, left + spent, spent, left],
    );
  }

  async function runReplay(...words: string[]) {
    const file = join(folder, 'report.json');
    const done = await run('replay', ...DAY, '--json', file, ...words);
    const report = (): Report => JSON.parse(readFileSync(file, 'utf8')) as Report;
    return { ...done, report };
  }

  /** Returns the row count of each table and the transaction of its latest row. */
  async function written(): Promise<unknown> {
    const { rows } = await testDatabase.database.query(
      TABLES.map(
        (table) =>
          `SELECT '${table}' AS name, count(*) AS rows, max(xmin::text::bigint) AS written FROM ${table}`,
      ).join(' UNION ALL '),
    );
    return rows;
  }

  it('costs what the ledger charged without a change, and writes nothing', async () => {
    const before = await written();
    const { code, errors, output, report } = await runReplay();
    expect({ code, errors: errors.replace(/^.*were read.*\n/, '') }).toEqual({
      code: 0,
      errors: '',
    });
    expect(await written()).toEqual(before);
    expect(report().calibration).toMatchObject({
      logged: { requests: 2 * REQUESTS, cost, vendor_cost: cost },
      replayed: { cost, vendor_cost: cost, failed: 0, no_credits: 0 },
      cost_deviation: 0,
    });
    expect(report().all.after).toEqual(report().all.before);
    expect(output).toContain('(+0.00 %)');
  });

  it('moves a removed vendor’s requests to the second at its prices, within available credits', async () => {
    const page = join(folder, 'report.html');
    const words = ['--without', 'openai', '--fault', 'gone', '--html', page];
    const { code, report } = await runReplay(...words);
    expect(code).toBe(0);
    let credits = POOR_LEFT + spentByEach;
    let spent = 0;
    let refused = 0;
    for (let index = 0; index < REQUESTS; index++) {
      const { azure } = costsOf(index);
      spent += azure;
      const hold = 2 * (500 + index) + 3 * 4_096;
      if (credits < hold) refused++;
      else {
        credits -= azure;
        spent += azure;
      }
    }
    expect(refused).toBeGreaterThan(20);
    const { all, groups, providers } = report();
    expect(all.before).toMatchObject({ failed: 0, no_credits: 0, cost });
    expect(all.after).toMatchObject({ failed: 0, no_credits: refused, cost: spent });
    expect(groups.map(({ tenant, after }) => [tenant, after.no_credits])).toEqual(
      expect.arrayContaining([
        ['rich', 0],
        ['</script>poor', refused],
      ]),
    );
    expect(providers.map(({ provider, after }) => [provider, after.answered])).toEqual([
      ['azure', 2 * REQUESTS - refused],
      ['openai', 0],
    ]);
    expect(readFileSync(page, 'utf8')).toContain('&lt;/script&gt;poor');
  });

  it('removes a vendor for exactly one hour', async () => {
    const { report } = await runReplay(
      ...['--without', `openai:${MODEL}`, '--fault', 'gone'],
      ...['--without-from', '2026-01-13T02:00Z', '--without-to', '2026-01-13T03:00Z'],
    );
    // The 12th to the 23rd request, one of which went to azure anyway.
    let added = 0;
    for (let index = 12; index < 24; index++) {
      const { openai, azure } = costsOf(index);
      if (index !== 19) added += azure - openai;
    }
    const { before, after } = report().groups.find(({ tenant }) => tenant === 'rich')!;
    expect(after.cost - before.cost).toBe(added);
  });

  it.each([
    ['no bound is exceeded', 0, ['--max-failures', '50%', '--max-402', '100', '--max-429', '0']],
    ['a bound is exceeded', 1, ['--max-added-p95', '100ms']],
    [
      'another bound is exceeded',
      1,
      ['--max-added-p95', '60000', '--scale', '2', '--max-cost-increase', '50%'],
    ],
  ])('reports by its exit code that %s', async (_, code, bounds) => {
    const done = await runReplay('--without', 'openai', ...bounds);
    expect(done.code).toBe(code);
    expect(done.report().passed_bounds).toHaveLength(code);
  });

  it('warns when no request went to the removed target', async () => {
    const { output } = await runReplay('--without', 'nobody');
    expect(output).toContain('Warning: no request went to nobody');
  });

  it.each([
    [['--from', 'yesterday'], '--from must be an ISO 8601 time'],
    [['--to', '2026-01-12'], '--to must be later than --from'],
    [['--without', 'open ai'], '--without must name a provider'],
    [['--without-from', '2026-01-15'], 'must leave a span within the window'],
    [['--fault', '418'], '--fault must be one of'],
    [['--scale', '0.5'], '--scale must be a number from 1'],
    [['--speed', 'fast'], '--speed must be a number'],
    [['--max-failures', '1'], '--max-failures must be a percentage'],
    [['--max-402', 'none'], '--max-402 must be an integer'],
    [['--nonsense', '1'], "Unknown option '--nonsense'"],
  ])('rejects %j', async (words, message) => {
    const { code, errors } = await runReplay(...words);
    expect({ code, errors }).toEqual({ code: 2, errors: expect.stringContaining(message) });
  });

  it('fails for a window without requests', async () => {
    const { code, errors } = await runReplay('--from', '2025-01-13', '--to', '2025-01-14');
    expect({ code, errors }).toEqual({
      code: 2,
      errors: expect.stringContaining('the log has no requests from 2025-01-13'),
    });
  });

  it('rejects an uncalibrated replay unless --uncalibrated is given', async () => {
    await testDatabase.database.query(
      `UPDATE request_logs SET cost = cost * 2, model_charge = model_charge * 2`,
    );
    const { code, errors } = await runReplay();
    expect({ code, errors }).toEqual({
      code: 2,
      errors: expect.stringContaining('by more than 5 %'),
    });
    expect((await runReplay('--uncalibrated')).code).toBe(0);
    await testDatabase.database.query(
      `UPDATE request_logs SET cost = cost / 2, model_charge = model_charge / 2`,
    );
  });

  it('applies per-minute limits when requests arrive faster, and reports affected tenants', async () => {
    await testDatabase.database.query(
      `UPDATE api_keys SET rate_limit_per_minute = 10 FROM tenants
       WHERE tenants.id = tenant_id AND tenants.name = 'rich'`,
    );
    const words = ['--speed', '60', '--uncalibrated', '--max-429'];
    const { code, report, output } = await runReplay(...words, '0');
    expect(code).toBe(1);
    // One every 5 seconds, so two of each minute's twelve.
    const groups = report().groups.map(({ tenant, model, before, after }) => ({
      ...{ tenant, model, was: before.too_many, would: after.too_many },
    }));
    expect(groups).toEqual(
      expect.arrayContaining([
        { tenant: 'rich', model: MODEL, was: 0, would: 20 },
        { tenant: '</script>poor', model: MODEL, was: 0, would: 0 },
      ]),
    );
    expect(output).toContain('Bound exceeded: --max-429: 20 is more than 0');
    expect((await runReplay(...words, '20')).code).toBe(0);
  });

  describe('of an archived month', () => {
    let s3: TestS3;
    let before: Report;

    beforeAll(async () => {
      const { database } = testDatabase;
      // A limit that was partly spent before the window.
      await database.query('UPDATE api_keys SET monthly_spend_limit = 100000000');
      await database.query(
        `INSERT INTO key_months (api_key_id, month, spent)
         SELECT api_key_id, '2026-01-01', sum(cost) FROM request_logs GROUP BY api_key_id`,
      );
      before = (await runReplay('--without', 'openai', '--fault', 'gone')).report();
      s3 = await startTestS3(join(folder, 's3'));
      await rollUpAll(database);
      const archiver = new SmallFiles(database, new ArchiveBucket({ s3: s3.config }), {
        ...{ s3: s3.config, logArchiveAfterDays: 31 },
      });
      expect(await archiver.sweepNow(new Date('2026-04-01'))).toBe(2 * REQUESTS);
    });

    afterAll(() => s3.stop());

    const withBucket = () =>
      Object.assign(environment, {
        ...{ S3_BUCKET: s3.config.bucket, S3_ENDPOINT: s3.config.endpoint },
        ...{ S3_ACCESS_KEY_ID: 'S3RVER', S3_SECRET_ACCESS_KEY: 'S3RVER' },
        S3_REGION: s3.config.region,
      });

    it('warns that the archive is not read without its bucket', async () => {
      const { code, errors } = await runReplay();
      expect({ code, errors }).toEqual({
        code: 2,
        errors: expect.stringMatching(/files of the archive.*S3_BUCKET is not set/),
      });
    });

    it('gives the same result as from the database', async () => {
      withBucket();
      const { code, report } = await runReplay('--without', 'openai', '--fault', 'gone');
      expect(code).toBe(0);
      expect({ ...report(), seconds: 0 }).toEqual({ ...before, seconds: 0 });
      expect(before.all.before).toMatchObject({ requests: 2 * REQUESTS, cost });
    });

    it('merges archived and stored rows in order', async () => {
      const { database } = testDatabase;
      const { rows } = await database.query<{ tenant: string; key: string }>(
        `SELECT tenants.id AS tenant, api_keys.id AS key
         FROM tenants JOIN api_keys ON tenant_id = tenants.id WHERE tenants.name = 'rich'`,
      );
      const { tenant, key: apiKeyId } = rows[0]!;
      const createdAt = new Date('2026-01-13T05:02:00Z');
      await insertRequestLogRow(database, tenant, {
        ...{ apiKeyId, createdAt, provider: 'openai', model: MODEL, cost: 20, modelCharge: 20 },
        ...{ firstTokenMs: 300, latencyMs: 1_300, generationTimeMs: 1_000, streamed: true },
        ...{ vendorCost: 20, attempts: [attempt({ vendor_cost: 20 })] },
      });
      const { report } = await runReplay();
      expect(report().calibration).toMatchObject({
        logged: { requests: 2 * REQUESTS + 1, cost: cost + 20 },
        replayed: { cost: cost + 20 },
      });
    });

    it('fails when the bucket is unavailable', async () => {
      Object.assign(withBucket(), { S3_ENDPOINT: 'http://127.0.0.1:9' });
      const { code, errors } = await runReplay();
      withBucket();
      expect({ code, errors }).toEqual({
        code: 2,
        errors: expect.stringContaining('unavailable'),
      });
    });
  });
});
