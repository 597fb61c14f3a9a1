import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { renewEncrypted } from '../../src/app/stored-secrets.js';
import { AuditLog } from '../../src/core/audit/audit-log.js';
import { BOOTSTRAP_AUTHOR } from '../../src/core/access/author.js';
import { ContentCipher } from '../../src/core/content/content-cipher.js';
import { ContentLog } from '../../src/core/content/content-log.service.js';
import { ContentRetention } from '../../src/core/content/content-retention.service.js';
import { ContentWriter, type ContentEntry } from '../../src/core/content/content-writer.service.js';
import { ContentRepository } from '../../src/core/content/content.repository.js';
import type { GuardrailDirectory } from '../../src/core/guardrails/guardrail-directory.service.js';
import { TracingService } from '../../src/core/tracing/tracing.service.js';
import type { Database } from '../../src/platform/database/database.js';
import { GatewayMetrics } from '../../src/platform/metrics/gateway-metrics.js';
import { createTenant } from '../support/ledger-factories.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const [OLD, NEW] = [
  'an-old-secret-of-32-characters-or-more',
  'a-new-secret-of-32-characters-or-more',
];

let own: TestDatabase;
let tenantId: string;
const noGuardrails = { of: () => [] } as unknown as GuardrailDirectory;

beforeAll(async () => {
  Logger.overrideLogger(false);
  own = await createTestDatabase();
  ({ tenantId } = await createTenant(own.database, 0));
});
afterAll(() => own.drop());

const cipherOf = (secret: string) =>
  new ContentCipher({
    secret,
    secretFile: undefined,
    previousSecrets: [],
    dataDirectory: '/nowhere',
  });

interface Options {
  secret?: string;
  database?: Pick<Database, 'query'>;
  contentMaxBytes?: number;
  contentRetentionDays?: number;
}

/** Opens the content log like an instance. */
function open({
  secret = OLD,
  database = own.database,
  contentMaxBytes = 1e9,
  contentRetentionDays = 30,
}: Options = {}) {
  const contents = new ContentRepository(database as Database);
  const cipher = cipherOf(secret);
  const metrics = new GatewayMetrics();
  const writer = new ContentWriter(contents, cipher, noGuardrails, metrics);
  const config = { contentLog: 'on' as const, contentRetentionDays, contentMaxBytes };
  const log = new ContentLog(
    new TracingService(metrics),
    writer,
    contents,
    cipher,
    own.database,
    new AuditLog(),
    config,
  );
  const retention = new ContentRetention(own.database, writer, metrics, config);
  const dropped = async (reason: string) => {
    const text = await metrics.registry.metrics();
    const line = text.split('\n').find((each) => each.includes(`dropped_total{reason="${reason}"`));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  return { log, writer, retention, dropped };
}

function entry(text: string, overrides: Partial<ContentEntry> = {}): ContentEntry {
  return {
    requestId: randomUUID(),
    tenantId,
    recordedAt: new Date(),
    guardrails: [],
    unhashed: [],
    weight: text.length,
    content: {
      endpoint: 'chat',
      model: 'sandbox/echo',
      prompt: {
        instructions: [],
        messages: [{ role: 'user', parts: [{ type: 'text', content: text }] }],
      },
      answer: { messages: [], media: [] },
      truncated: false,
    },
    ...overrides,
  };
}

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

async function isKept({ requestId }: ContentEntry): Promise<boolean> {
  const { rows } = await own.database.query('SELECT FROM request_contents WHERE request_id = $1', [
    requestId,
  ]);
  return rows.length === 1;
}

async function tableOf({ requestId }: ContentEntry): Promise<string> {
  const { rows } = await own.database.query<{ name: string }>(
    'SELECT tableoid::regclass::text AS name FROM request_contents WHERE request_id = $1',
    [requestId],
  );
  return rows[0]!.name;
}

describe('the content log', () => {
  it('stays readable after a rotation of the secret, and not with another secret', async () => {
    const { writer } = open();
    const written = entry('before the rotation');
    writer.write(written);
    await writer.drain();
    const read = (secret: string) =>
      open({ secret }).log.read(BOOTSTRAP_AUTHOR, tenantId, written.requestId);
    await expect(read(NEW)).rejects.toThrow();
    await renewEncrypted(own.database, () => [NEW, OLD]);
    expect((await read(NEW)).prompt).toEqual(written.content.prompt);
    await expect(read(OLD)).rejects.toThrow();
  });

  it('does not decrypt content moved to another request', async () => {
    const { writer, log } = open();
    const [one, other] = [entry('one'), entry('other')];
    writer.write(one);
    writer.write(other);
    await writer.drain();
    await own.database.query(
      `UPDATE request_contents SET body = (SELECT body FROM request_contents WHERE request_id = $1)
       WHERE request_id = $2`,
      [one.requestId, other.requestId],
    );
    await expect(log.read(BOOTSTRAP_AUTHOR, tenantId, other.requestId)).rejects.toThrow();
    expect(await log.read(BOOTSTRAP_AUTHOR, tenantId, one.requestId)).toBeDefined();
  });

  it('buffers entries while the database is unavailable, up to a limit, and counts dropped ones', async () => {
    let isUnavailable = true;
    const database = {
      query: (...args: Parameters<Database['query']>) =>
        isUnavailable ? Promise.reject(new Error('away')) : own.database.query(...args),
    } as Pick<Database, 'query'>;
    const { writer, dropped } = open({ database });
    const first = entry('while away', { weight: 20_000_000 });
    const second = entry('while away too', { weight: 20_000_000 });
    for (const each of [first, second]) {
      expect(writer.hasRoom()).toBe(true);
      writer.write(each);
    }
    expect(writer.hasRoom()).toBe(false);
    expect(await dropped('buffer_full')).toBe(1);
    expect(await isKept(first)).toBe(false);
    isUnavailable = false;
    await until(() => isKept(second));
    expect(await isKept(first)).toBe(true);
    await writer.drain();
    expect(writer.hasRoom()).toBe(true);
  });

  it('drops an entry that cannot be stored, and continues with the next ones', async () => {
    const { writer, dropped } = open();
    writer.write(entry('no id', { requestId: 'no uuid' }));
    await writer.drain();
    expect(await dropped('faulty')).toBe(1);
    const next = entry('next');
    writer.write(next);
    await writer.drain();
    expect(await isKept(next)).toBe(true);
  });

  it('waits at shutdown only for entries that can be written', async () => {
    const database = { query: () => Promise.reject(new Error('away')) };
    const { writer, dropped } = open({ database });
    writer.write(entry('never'));
    await writer.beforeApplicationShutdown();
    expect(await dropped('stopped')).toBe(1);
  });

  it('omits entries recorded before their tenant deleted everything', async () => {
    const { writer, log } = open();
    const [late, new_] = [entry('late', { recordedAt: daysAgo(0.001) }), entry('new')];
    await log.deleteAll(BOOTSTRAP_AUTHOR, tenantId);
    writer.write(late);
    writer.write({ ...new_, recordedAt: new Date(Date.now() + 1_000) });
    await writer.drain();
    expect([await isKept(late), await isKept(new_)]).toEqual([false, true]);
  });

  it('drops expired days as a whole, and hides them before', async () => {
    const { writer, log, retention } = open({ contentRetentionDays: 2 });
    await retention.sweepNow();
    const another = await createTenant(own.database, 0);
    const old = entry('old', { recordedAt: daysAgo(3), tenantId: another.tenantId });
    const today = entry('today', { tenantId: another.tenantId });
    writer.write(old);
    writer.write(today);
    await writer.drain();
    // Only today has a table; earlier days share one.
    expect(await tableOf(old)).toBe('request_contents_other');
    expect(await tableOf(today)).toMatch(/^request_contents_\d{4}_\d\d_\d\d$/);
    await expect(log.read(BOOTSTRAP_AUTHOR, another.tenantId, old.requestId)).rejects.toThrow();
    await retention.sweepNow();
    expect([await isKept(old), await isKept(today)]).toEqual([false, true]);
    const name = await tableOf(today);
    const dropped = await retention.sweepNow(new Date(Date.now() + 3 * 86_400_000));
    expect(dropped).toContain(new Date().toISOString().slice(0, 10));
    const { rows } = await own.database.query<{ is_there: boolean; keys: number }>(
      `SELECT to_regclass($1) IS NOT NULL AS is_there,
         (SELECT count(*)::integer FROM content_keys) AS keys`,
      [name],
    );
    expect(rows).toEqual([{ is_there: false, keys: 0 }]);
  });

  it('stays within its size limit: drops the oldest days, then stops recording', async () => {
    const { writer, retention, dropped } = open({ contentMaxBytes: 1 });
    await retention.sweepNow();
    expect(writer.hasRoom()).toBe(false);
    expect(await dropped('storage_full')).toBe(1);
    const tomorrow = new Date(Date.now() + 86_400_000);
    const today = new Date().toISOString().slice(0, 10);
    expect(await retention.sweepNow(tomorrow)).toContain(today);
    const roomy = open();
    await roomy.retention.sweepNow();
    expect(roomy.writer.hasRoom()).toBe(true);
  });
});
