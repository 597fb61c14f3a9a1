import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../src/app/commands/run-command.js';
import { rotateSecret } from '../../src/app/commands/secret-rotate.command.js';
import { AuditLog } from '../../src/core/audit/audit-log.js';
import { ConfigVersions } from '../../src/core/configuration/config-versions.js';
import { PROVIDER_KEY_PURPOSE } from '../../src/core/configuration/provider-keys.js';
import { HeaderEncryption } from '../../src/features/broadcast/destination-headers.js';
import type { AppConfig } from '../../src/platform/config/app-config.js';
import { gatewaySecrets } from '../../src/platform/config/gateway-secret.js';
import { loadSettings } from '../../src/app/load-settings.js';
import { CredentialCipher } from '../../src/core/credentials/credential-cipher.service.js';
import { WebhookSecrets } from '../../src/platform/outbound/webhook-secrets.js';
import { SigningKeys } from '../../src/core/ledger/receipts/signing-keys.service.js';
import { createTenant } from '../support/ledger-factories.js';
import {
  DecryptionError,
  SecretBox,
  secretFingerprint,
} from '../../src/platform/crypto/secret-box.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const OLD = 'the-old-secret-of-at-least-32-characters';
const NEW = 'the-new-secret-of-at-least-32-characters';
const LOST = 'a-lost-secret-of-at-least-32-characters';

let testDatabase: TestDatabase;
let tenantId: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  ({ tenantId } = await createTenant(testDatabase.database, 0));
});
afterAll(() => testDatabase.drop());

const configOf = (secret: string, previous = ''): AppConfig =>
  loadSettings({
    DATABASE_URL: testDatabase.url,
    GATEWAY_SECRET: secret,
    GATEWAY_SECRET_PREVIOUS: previous,
  });
const webhookSecrets = (config: AppConfig) =>
  new WebhookSecrets(() => gatewaySecrets(config), testDatabase.database);
const signingKeys = (config: AppConfig) =>
  new SigningKeys(config, testDatabase.database, new AuditLog());
const keyNameOf = (jws: string): unknown =>
  JSON.parse(Buffer.from(jws.split('.')[0]!, 'base64url').toString());

const noteFingerprint = (fingerprint: string) =>
  testDatabase.database.query('UPDATE installation SET secret_fingerprint = $1', [fingerprint]);

async function rotate(config: AppConfig) {
  let output = '';
  const code = await runCommand(['secret', 'rotate'], {
    loadConfig: () => config,
    print: (line) => (output += `${line}\n`),
    printError: (line) => (output += `${line}\n`),
  });
  return { code, output };
}

async function storeCredential(config: AppConfig): Promise<string> {
  const id = randomUUID();
  await testDatabase.database.query(
    `INSERT INTO provider_credentials
       (id, tenant_id, provider, sealed_key, key_preview, settings, allow_shared_fallback)
     VALUES ($1, $2, 'openai', $3, '…', '{}', false)`,
    [id, tenantId, new CredentialCipher(config).encrypt(`key of ${id}`, id)],
  );
  return id;
}

async function storeProviderKey(config: AppConfig): Promise<string> {
  const id = randomUUID();
  const box = new SecretBox(() => gatewaySecrets(config), PROVIDER_KEY_PURPOSE);
  await testDatabase.database.query('INSERT INTO provider_keys (id, sealed_key) VALUES ($1, $2)', [
    id,
    box.encrypt(`key of ${id}`, id),
  ]);
  return id;
}

async function openProviderKey(config: AppConfig, id: string): Promise<string | undefined> {
  const versions = new ConfigVersions(testDatabase.database, new AuditLog(), config);
  const provider = { id: 'p', name: 'P', base_url: 'http://p', api_key: { id, preview: '' } };
  return (await versions.keysOf([provider])).get('p');
}

async function storeHeaders(config: AppConfig): Promise<string> {
  const id = randomUUID();
  await testDatabase.database.query(
    `INSERT INTO broadcast_destinations
       (id, tenant_id, is_enabled, url, sealed_headers, sampling_rate, includes_content)
     VALUES ($1, $2, true, 'http://collector.example/', $3, 1, false)`,
    [id, tenantId, new HeaderEncryption(config).encrypt({ 'x-id': id }, id)],
  );
  return id;
}

async function readAll(config: AppConfig) {
  const { rows: credentials } = await testDatabase.database.query<{ id: string; signed: Buffer }>(
    'SELECT id, sealed_key AS signed FROM provider_credentials',
  );
  const { rows: headers } = await testDatabase.database.query<{ id: string; signed: Buffer }>(
    'SELECT id, sealed_headers AS signed FROM broadcast_destinations',
  );
  return {
    keys: credentials.map(({ id, signed }) => {
      try {
        return new CredentialCipher(config).decrypt(signed, id) === `key of ${id}` ? id : 'another';
      } catch {
        return 'unreadable';
      }
    }),
    headers: headers.map(
      ({ id, signed }) => new HeaderEncryption(config).decrypt(signed, id)?.['x-id'],
    ),
  };
}

describe('secret rotate', () => {
  it('re-encrypts everything stored with the new secret, and reports what cannot be decrypted', async () => {
    const [old, between, current] = [configOf(OLD), configOf(NEW, OLD), configOf(NEW)];
    const keys = [];
    // More than a batch.
    for (let count = 0; count < 205; count++) keys.push(await storeCredential(old));
    const headers = [await storeHeaders(old), await storeHeaders(old)];
    const before = await webhookSecrets(old).secretOf(tenantId);
    const { secret } = await webhookSecrets(old).rotate(tenantId);
    const lost = await storeCredential(configOf(LOST));
    const signer = keyNameOf(await signingKeys(old).sign({}, 'test'));
    const providerKey = await storeProviderKey(old);

    // Meanwhile, instances with either setting can decrypt everything.
    const [first, second] = await Promise.all([rotate(between), rotate(between)]);
    expect([first.code, second.code]).toEqual([0, 0]);
    expect(first.output).toContain(`not opened by any secret: ${lost}`);
    for (const config of [current, configOf(OLD, NEW)]) {
      const read = await readAll(config);
      expect(read.keys.filter((key) => key !== 'unreadable').sort()).toEqual(keys.sort());
      expect(read.headers.sort()).toEqual(headers.sort());
    }
    expect(await webhookSecrets(current).secretOf(tenantId)).toBe(secret);
    const signature = await webhookSecrets(current).sign(tenantId, '{}', 0);
    expect(signature).toMatch(/^t=0,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    expect(before).not.toBe(secret);
    expect(keyNameOf(await signingKeys(current).sign({}, 'test'))).toEqual(signer);
    // An instance with another secret removes no keys; discarded ones are created again.
    await expect(signingKeys(configOf(LOST)).sign({}, 'test')).rejects.toThrow(DecryptionError);
    expect(keyNameOf(await signingKeys(current).sign({}, 'test'))).toEqual(signer);
    await noteFingerprint(secretFingerprint(LOST));
    expect(keyNameOf(await signingKeys(configOf(LOST)).sign({}, 'test'))).not.toEqual(signer);
    expect(await signingKeys(configOf(LOST)).publicKeys()).toHaveLength(2);
    await noteFingerprint(secretFingerprint(NEW));
    expect(await openProviderKey(current, providerKey)).toBe(`key of ${providerKey}`);

    // An instance whose current secret is the old one still wrote; the command is run again.
    const late = await storeCredential(configOf(OLD, NEW));
    const again = await rotate(between);
    expect(again.output).toContain('Provider credentials: 1 encrypted anew, 205 were current');
    expect((await readAll(current)).keys).toContain(late);
    expect((await rotate(between)).output).toContain('Provider credentials: 0 encrypted anew');
    const audit = await testDatabase.database.query(
      `SELECT DISTINCT actor_kind, after FROM audit_log WHERE action = 'secret.rotate'`,
    );
    const after = { fingerprint: secretFingerprint(NEW) };
    expect(audit.rows).toEqual([{ actor_kind: 'command', after }]);
  });

  it('creates a new secret for an embedded database and drops the old one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-rotate-'));
    try {
      // Like with the embedded database, the secret is in the data folder.
      const config = { ...configOf(OLD), secret: undefined, dataDirectory: folder };
      const [before] = gatewaySecrets(config);
      const id = await storeCredential(config);
      const running = rotateSecret(config, testDatabase.database, () => undefined, 300);
      // A running service keeps reading and writing.
      while (gatewaySecrets(config).length === 1)
        await new Promise((resolve) => setTimeout(resolve, 10));
      const [current, previous] = gatewaySecrets(config);
      expect(previous).toBe(before);
      const later = await storeCredential({ ...config, secret: before });
      await running;
      expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe(`${current}\n`);
      expect((await readAll(config)).keys).toEqual(expect.arrayContaining([id, later]));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
