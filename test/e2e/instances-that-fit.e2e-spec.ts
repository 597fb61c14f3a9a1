import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InstanceFit } from '../../src/app/operations/instance-fit.service.js';
import { runCommand } from '../../src/app/commands/run-command.js';
import { loadSettings } from '../../src/app/load-settings.js';
import { CredentialCipher } from '../../src/core/credentials/credential-cipher.service.js';
import { secretFingerprint } from '../../src/platform/crypto/secret-box.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { spawnGateway } from '../support/spawn-gateway.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const OWN = 'one-secret-of-at-least-32-characters';
const OTHER = 'another-secret-of-at-least-32-characters';
const NEWER = 'FromTheFuture9999999999999';

let own: TestDatabase;
let folder: string;
const open: BootedGateway[] = [];

beforeAll(async () => {
  own = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'gateway-fit-'));
});
afterEach(async () => {
  for (const gateway of open.splice(0)) await gateway.close();
  await own.database.query('DELETE FROM instances');
});
afterAll(async () => {
  await own.drop();
  await rm(folder, { recursive: true, force: true });
});

async function boot(environment: Record<string, string> = {}): Promise<BootedGateway> {
  const settings = { GATEWAY_SECRET: OWN, GATEWAY_DATA_DIR: folder, ...environment };
  const gateway = await bootGateway(settings, { database: own });
  open.push(gateway);
  return gateway;
}

/** Returns the readiness after the instance has checked the others again. */
async function readiness(
  gateway: BootedGateway,
): Promise<{ status: number; degraded: string[]; reasons: string[] }> {
  await gateway.gateway.application.get(InstanceFit, { strict: false }).check();
  const response = await gateway.fetch('/readyz');
  const body = (await response.json()) as { degraded: string[]; reasons: string[] };
  return { ...body, status: response.status };
}

const FITS = { status: 200, degraded: [], reasons: [] };

describe('two instances on one database', () => {
  it('that match report nothing, and describe themselves', async () => {
    const [one, two] = [await boot(), await boot()];
    expect(await readiness(one)).toMatchObject(FITS);
    expect(await readiness(two)).toMatchObject(FITS);
    expect(two.gateway.warnings).toEqual([]);
    const { rows } = await own.database.query<{ facts: Record<string, unknown> }>(
      'SELECT facts FROM instances',
    );
    expect(rows).toHaveLength(2);
    expect(rows[0]!.facts).toMatchObject({
      role: 'gateway',
      version: expect.stringMatching(/^\d+\.\d+/),
      pid: process.pid,
      secret: secretFingerprint(OWN),
      catalogue: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
  });

  it('name each other when their catalogues differ', async () => {
    const catalogue = join(folder, 'catalogue.json');
    const expensive = { id: 'sandbox/echo', pricing: { prompt: '0.5' } };
    await writeFile(catalogue, JSON.stringify({ models: [expensive] }));
    const one = await boot();
    const two = await boot({ GATEWAY_CATALOGUE: catalogue });
    const [first, second] = [await readiness(one), await readiness(two)];
    for (const { status, degraded, reasons } of [first, second]) {
      expect([status, degraded]).toEqual([200, ['catalogue']]);
      expect(reasons[0]).toMatch(/fingerprint is [0-9a-f]{12}, that of the gateway \w{8} .* is/);
    }
    expect(two.gateway.warnings).toEqual(second.reasons);
    await open.pop()!.close();
    expect(await readiness(one)).toMatchObject(FITS);
  });

  it('name each other when they store artifacts separately, and do not charge for lost ones', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'gateway-fit-'));
    try {
      const worker = await boot();
      const configured = await boot({
        GATEWAY_DATA_DIR: elsewhere,
        GATEWAY_JOB_WORKERS: 'false',
        GATEWAY_BOOTSTRAP_API_KEY: worker.apiKey,
      });
      for (const gateway of [worker, configured]) {
        const { status, degraded, reasons } = await readiness(gateway);
        expect([status, degraded]).toEqual([200, ['artifacts']]);
        expect(reasons[0]).toContain('S3_BUCKET');
      }
      const draw = { model: 'sandbox/image', prompt: 'A lighthouse', response_format: 'b64_json' };
      const answer = await configured.post('/v1/images/generations', draw);
      expect(answer.status).toBe(503);
      expect(answer.headers.get('x-gateway-cost')).toBe('0');
      expect(answer.headers.get('retry-after')).toBe('5');
      expect(await answer.json()).toMatchObject({ error: { param: 'artifacts' } });
      const { rows } = await own.database.query(
        `SELECT spent, held, actual_cost AS cost, status FROM accounts JOIN jobs USING (tenant_id)
          WHERE tenant_id = $1`,
        [configured.tenantId],
      );
      expect(rows).toEqual([{ spent: 0, held: 0, cost: 0, status: 'expired' }]);
      expect(await findLedgerFaults(own.database)).toEqual([]);
    } finally {
      await rm(elsewhere, { recursive: true, force: true });
    }
  });

  it('do not charge for an image that cannot be stored', async () => {
    const gateway = await boot();
    await rm(join(folder, 'artifacts'), { recursive: true });
    await writeFile(join(folder, 'artifacts'), 'in the way');
    try {
      const draw = { model: 'sandbox/image', prompt: 'A lighthouse' };
      const answer = await gateway.post('/v1/images/generations', draw);
      expect(answer.status).toBeGreaterThanOrEqual(500);
      const credits = await gateway.database.query<{ spent: number; held: number }>(
        'SELECT spent, held FROM accounts WHERE tenant_id = $1',
        [gateway.tenantId],
      );
      expect(credits.rows).toEqual([{ spent: 0, held: 0 }]);
    } finally {
      await rm(join(folder, 'artifacts'));
    }
  });
});

describe('another GATEWAY_SECRET', () => {
  const refusal = new RegExp(
    `GATEWAY_SECRET \\(fingerprint ${secretFingerprint(OTHER)}\\) is not .*fingerprint ${secretFingerprint(OWN)}`,
  );

  it('does not start, and says why', async () => {
    await boot();
    await expect(
      spawnGateway({
        DATABASE_URL: own.url,
        GATEWAY_DATA_DIR: folder,
        GATEWAY_SECRET: OTHER,
        GATEWAY_SANDBOX: 'true',
      }),
    ).rejects.toThrow(refusal);
  });

  it('starts with the previous one during a rotation, and alone afterwards', async () => {
    const before = await boot({ GATEWAY_SECRET_PREVIOUS: OTHER });
    const after = await boot({ GATEWAY_SECRET: OTHER, GATEWAY_SECRET_PREVIOUS: OWN });
    expect(await rotate({ GATEWAY_SECRET: OTHER, GATEWAY_SECRET_PREVIOUS: OWN })).toContain(
      'Provider credentials',
    );
    expect(await readiness(before)).toMatchObject(FITS);
    expect(await readiness(after)).toMatchObject(FITS);
    expect(await readiness(await boot({ GATEWAY_SECRET: OTHER }))).toMatchObject(FITS);
    await expect(boot()).rejects.toThrow('is not the secret');
  });

  it('is named by an instance with the previous one, and adopted when that is lost', async () => {
    // Left over from the previous test.
    const gateway = await boot({ GATEWAY_SECRET: OTHER });
    expect(await rotate({ GATEWAY_SECRET: OWN })).toContain('--lost');
    expect(await readiness(gateway)).toMatchObject(FITS);
    await rotate({ GATEWAY_SECRET: OWN }, ['--lost', secretFingerprint(OTHER)]);
    expect(await readiness(gateway)).toMatchObject({ status: 200, degraded: ['secret'] });
    await boot();
  });

  it('does not adopt a database whose values it cannot decrypt', async () => {
    await boot();
    await open.pop()!.close();
    // A service stores one for each tenant.
    await own.database.query('DELETE FROM webhook_secrets');
    await own.database.query('UPDATE installation SET secret_fingerprint = NULL');
    const { rows } = await own.database.query<{ id: string }>(
      `INSERT INTO provider_credentials
         (id, tenant_id, provider, sealed_key, key_preview, settings, allow_shared_fallback)
       SELECT gen_random_uuid(), id, 'openai', '', 'x', '{}', false FROM tenants LIMIT 1
       RETURNING id`,
    );
    const another = loadSettings({ GATEWAY_SECRET: OTHER });
    await own.database.query('UPDATE provider_credentials SET sealed_key = $2 WHERE id = $1', [
      rows[0]!.id,
      new CredentialCipher(another).encrypt('a vendor key', rows[0]!.id),
    ]);
    await expect(boot()).rejects.toThrow('decrypts none of them');
    await own.database.query('DELETE FROM provider_credentials');
    expect(await readiness(await boot())).toMatchObject(FITS);
  });
});

async function rotate(
  environment: Record<string, string>,
  options: readonly string[] = [],
): Promise<string> {
  const lines: string[] = [];
  await runCommand(['secret', 'rotate', ...options], {
    loadConfig: () => loadSettings({ DATABASE_URL: own.url, ...environment }),
    print: (line) => lines.push(line),
    printError: (line) => lines.push(line),
  });
  return lines.join('\n');
}

describe('a schema newer than the code', () => {
  it('keeps running instances serving, and lets none start', async () => {
    const gateway = await boot();
    await own.database.query('INSERT INTO migrations (timestamp, name) VALUES ($1, $2)', [
      9_999_999_999_999,
      NEWER,
    ]);
    await own.database.query(`UPDATE installation SET migrated_by = '99.1.0'`);
    try {
      const { status, degraded, reasons } = await readiness(gateway);
      expect([status, degraded]).toEqual([200, ['schema']]);
      expect(reasons[0]).toContain(NEWER);
      const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] };
      expect((await gateway.post('/v1/chat/completions', body)).status).toBe(200);

      const remedy = new RegExp(`${NEWER}\\. Start version 99\\.1\\.0`);
      await expect(boot()).rejects.toThrow(remedy);
      expect(await rotate({ GATEWAY_SECRET: OWN })).toMatch(remedy);
    } finally {
      await own.database.query('DELETE FROM migrations WHERE name = $1', [NEWER]);
    }
  });
});
