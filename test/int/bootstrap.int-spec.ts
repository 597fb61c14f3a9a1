import 'reflect-metadata';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdminKeyDirectory } from '../../src/core/access/admin-key-directory.service.js';
import { AdminKeysService } from '../../src/core/access/admin-keys.service.js';
import { AuditedApiKeys } from '../../src/core/access/audited-api-keys.js';
import { AuditLog } from '../../src/core/audit/audit-log.js';
import { KeyDirectory } from '../../src/core/access/key-directory.service.js';
import { LoginLinks } from '../../src/core/people/login-links.service.js';
import { BootstrapService } from '../../src/app/bootstrap/bootstrap.service.js';
import type { BootstrapConfig } from '../../src/platform/config/app-config.js';
import { ConfigError } from '../../src/platform/config/config-error.js';
import { GrantsService } from '../../src/core/ledger/grants.service.js';
import { openAccessServices, type AccessServices } from '../support/access-services.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const API_KEY = 'sk-declared-key-1';
const MANAGEMENT_KEY = 'sk-mgmt-declared-key-1';

describe(BootstrapService.name, () => {
  let testDatabase: TestDatabase;
  let access: AccessServices;
  let folder: string;

  beforeEach(async () => {
    testDatabase = await createTestDatabase();
    access = await openAccessServices(testDatabase.url);
    folder = mkdtempSync(join(tmpdir(), 'gateway-bootstrap-'));
  });

  afterEach(async () => {
    rmSync(folder, { recursive: true });
    await access.close();
    await testDatabase.drop();
  });

  it('creates a tenant with credits and two working keys', async () => {
    const outcome = await start();
    expect(outcome.created?.apiKey).toMatch(/^sk-[0-9A-Za-z]{43}$/);
    expect(outcome.created?.managementKey).toMatch(/^sk-mgmt-[0-9A-Za-z]{43}$/);
    expect(await access.tenants.list()).toEqual([
      expect.objectContaining({ name: 'default', balance: 10_000_000, keyCount: 2 }),
    ]);
    expect(await resolve(outcome.created!.apiKey)).toMatchObject({
      status: 'active',
      caller: { keyType: 'routing', rateLimitPerMinute: 600 },
    });
    expect(await resolve(outcome.created!.managementKey)).toMatchObject({
      status: 'active',
      caller: { keyType: 'management' },
    });
  });

  it('creates nothing on later starts, and prints no key again', async () => {
    await start();
    expect(await start()).toEqual({ kind: 'earlier', created: undefined });
    expect(await access.tenants.list()).toEqual([
      expect.objectContaining({ balance: 10_000_000, keyCount: 2 }),
    ]);
  });

  it('creates one tenant when several instances start at once', async () => {
    const others = await Promise.all(
      Array.from({ length: 4 }, () => openAccessServices(testDatabase.url)),
    );
    const outcomes = await Promise.all(others.map((instance) => start({}, instance)));
    expect(outcomes.filter(({ created }) => created)).toHaveLength(1);
    expect(await access.tenants.list()).toEqual([
      expect.objectContaining({ balance: 10_000_000, keyCount: 2 }),
    ]);
    await Promise.all(others.map((instance) => instance.close()));
  });

  it('uses the keys of the environment instead of creating any', async () => {
    const outcome = await start({
      apiKey: API_KEY,
      managementKey: MANAGEMENT_KEY,
      credits: 7,
      rateLimitPerMinute: 5,
    });
    expect(outcome).toMatchObject({ kind: 'environment', created: undefined });
    expect(await access.tenants.list()).toEqual([
      expect.objectContaining({ name: 'default', balance: 7, keyCount: 2 }),
    ]);
    expect(await resolve(API_KEY)).toMatchObject({ caller: { rateLimitPerMinute: 5 } });
    expect(await resolve(MANAGEMENT_KEY)).toMatchObject({ caller: { keyType: 'management' } });
  });

  it('adds a new key of the environment, without a second grant', async () => {
    await start({ credits: 7 });
    await start({ apiKey: API_KEY, credits: 7 });
    await start({ apiKey: API_KEY, credits: 7, rateLimitPerMinute: 42 });
    expect(await access.tenants.list()).toEqual([
      expect.objectContaining({ balance: 7, keyCount: 3 }),
    ]);
    expect(await resolve(API_KEY)).toMatchObject({ caller: { rateLimitPerMinute: 42 } });
  });

  it('audits what it creates and changes, and nothing else', async () => {
    await start({ apiKey: API_KEY, credits: 7 });
    await start({ apiKey: API_KEY, credits: 7 });
    await start({ apiKey: API_KEY, credits: 7, rateLimitPerMinute: 42 });
    const { rows } = await access.database.query(
      `SELECT actor_kind, action, before->'rate_limit_per_minute' AS before,
              after->'rate_limit_per_minute' AS after
         FROM audit_log WHERE tenant_id IS NOT NULL ORDER BY id`,
    );
    const by = { actor_kind: 'bootstrap' };
    expect(rows).toEqual([
      { ...by, action: 'tenant.create', before: null, after: null },
      { ...by, action: 'ledger.grant', before: null, after: null },
      { ...by, action: 'api_key.create', before: null, after: 600 },
      { ...by, action: 'api_key.update', before: 600, after: 42 },
    ]);
  });

  it('creates a tenant without credits if configured', async () => {
    await start({ credits: 0 });
    expect(await access.tenants.list()).toEqual([expect.objectContaining({ balance: 0 })]);
  });

  it('creates what the file declares, once, and no other tenant', async () => {
    const file = declare([
      {
        name: 'acme',
        credits: 50,
        keys: [
          { type: 'routing', key: API_KEY, rate_limit_per_minute: 9 },
          { type: 'management', key: MANAGEMENT_KEY, name: 'Ops' },
        ],
      },
      { name: 'empty', credits: 0, keys: [] },
    ]);
    expect(await start({ file })).toMatchObject({ kind: 'file', created: undefined });
    expect(await start({ file })).toEqual({ kind: 'file', created: undefined });
    const tenants = await access.tenants.list();
    expect(tenants.map(({ name, balance, keyCount }) => [name, balance, keyCount])).toEqual([
      ['acme', 50, 2],
      ['empty', 0, 0],
    ]);
    expect(await resolve(API_KEY)).toMatchObject({
      caller: { tenantId: tenants[0]?.id, rateLimitPerMinute: 9 },
    });
    const names = (await access.apiKeys.listOfTenant(tenants[0]!.id)).map(({ name }) => name);
    expect(names.sort()).toEqual(['Ops', 'routing key']);
  });

  it('recognizes a renamed tenant, and does not recreate a deleted one', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await start({ apiKey: API_KEY });
    const [made] = await access.tenants.list();
    await access.tenants.rename(made!.id, 'acme', access.database);
    await access.tenants.rename(made!.id, 'acme & sons', access.database);
    await start({ apiKey: API_KEY, managementKey: MANAGEMENT_KEY });
    expect(await start()).toMatchObject({ kind: 'earlier' });
    expect(await resolve(MANAGEMENT_KEY)).toMatchObject({ caller: { tenantId: made!.id } });
    expect(warn).not.toHaveBeenCalled();

    await access.database.query('UPDATE tenants SET deleted_at = now()');
    await start({ apiKey: API_KEY.replace('sk-', 'sk-another-') });
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('"default" was deleted'));
    expect(await start()).toMatchObject({ kind: 'earlier' });
    expect(await access.tenants.list()).toEqual([
      expect.objectContaining({ name: 'acme & sons', keyCount: 2 }),
    ]);
    warn.mockRestore();
  });

  it('aborts the start without changes when a key belongs to another tenant', async () => {
    const other = await access.makeTenant('other');
    await access.makeKey({ tenantId: other, plaintext: API_KEY });
    const refusal = await start({ apiKey: API_KEY }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ConfigError);
    expect((refusal as Error).message).toContain('GATEWAY_BOOTSTRAP_API_KEY');
    expect((refusal as Error).message).toContain('"other"');
    expect((refusal as Error).message).not.toContain(API_KEY);
    expect((await access.tenants.list()).map(({ name }) => name)).toEqual(['other']);
  });

  it('creates one admin key, also if there were tenants before, and none after the first', async () => {
    await access.makeTenant('default');
    const { kind, adminKey = '' } = await start();
    expect(kind).toBe('earlier');
    expect(adminKey).toMatch(/^sk-admin-[0-9A-Za-z]{43}$/);
    const directory = new AdminKeyDirectory(access.adminKeys);
    expect(await directory.resolve(adminKey)).toMatchObject({ role: 'admin', revokedAt: null });
    await access.database.query('UPDATE admin_keys SET revoked_at = now()');
    expect(await start()).toEqual({ kind: 'earlier', created: undefined });
    const { rows } = await access.database.query(
      `SELECT actor_kind, action, tenant_id, before, after, request_id FROM audit_log
        WHERE action <> 'login_link.create'`,
    );
    const preview = `${adminKey.slice(0, 13)}...${adminKey.slice(-4)}`;
    expect(rows).toEqual([
      {
        actor_kind: 'bootstrap',
        action: 'admin_key.create',
        tenant_id: null,
        before: null,
        after: {
          name: 'First admin key',
          key_preview: preview,
          role: 'admin',
          expires_at: null,
          revoked_at: null,
        },
        request_id: null,
      },
    ]);
  });

  it('uses GATEWAY_ADMIN_KEY instead of creating one, and warns if it was revoked', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const key = 'sk-admin-of-the-operator';
    for (const adminKey of [key, key, 'sk-admin-another-one']) {
      expect((await start({ adminKey })).adminKey).toBeUndefined();
    }
    expect((await access.database.query('SELECT FROM admin_keys')).rows).toHaveLength(2);
    expect(warn).not.toHaveBeenCalled();
    await access.database.query('UPDATE admin_keys SET revoked_at = now()');
    await start({ adminKey: key });
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('GATEWAY_ADMIN_KEY is revoked'));
    expect(warn).not.toHaveBeenCalledWith(expect.stringContaining(key));
    warn.mockRestore();
  });

  it('creates a login link with the first admin key, once, if there is a console', async () => {
    const { loginToken = '' } = await start();
    const links = new LoginLinks(access.database, new AuditLog());
    await links.use(access.database, loginToken);
    await expect(links.use(access.database, loginToken)).rejects.toMatchObject({ status: 401 });
    const { rows } = await access.database.query(
      `SELECT actor_kind FROM audit_log WHERE action = 'login_link.create'`,
    );
    expect(rows).toEqual([{ actor_kind: 'bootstrap' }]);
    expect((await start()).loginToken).toBeUndefined();
    await access.database.query('DELETE FROM admin_keys');
    const withoutConsole = await start({ hasConsole: false });
    expect(withoutConsole.adminKey).toBeDefined();
    expect(withoutConsole.loginToken).toBeUndefined();
  });

  it('leaves a revoked key revoked and warns', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await start({ apiKey: API_KEY });
    const known = await resolve(API_KEY);
    await access.apiKeys.revoke(known!.caller.tenantId, known!.caller.apiKeyId);
    await start({ apiKey: API_KEY });
    expect(await resolve(API_KEY)).toMatchObject({ status: 'revoked' });
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('GATEWAY_BOOTSTRAP_API_KEY'));
    expect(warn).not.toHaveBeenCalledWith(expect.stringContaining(API_KEY));
    warn.mockRestore();
  });

  function start(
    { hasConsole = true, ...overrides }: Partial<BootstrapConfig> & { hasConsole?: boolean } = {},
    instance: AccessServices = access,
  ) {
    const bootstrap: BootstrapConfig = {
      apiKey: undefined,
      managementKey: undefined,
      adminKey: undefined,
      credits: 10_000_000,
      rateLimitPerMinute: 600,
      file: undefined,
      ...overrides,
    };
    const audit = new AuditLog();
    const rows = instance.adminKeys;
    return new BootstrapService(
      { bootstrap, http: { hasConsole } },
      instance.database,
      instance.tenants,
      instance.apiKeys,
      new AuditedApiKeys(instance.database, instance.apiKeys, audit),
      new GrantsService(instance.database),
      new AdminKeysService(instance.database, rows, audit),
      rows,
      new LoginLinks(instance.database, audit),
      audit,
    ).ensureFirstTenant();
  }

  /** Resolves the key like an instance without a cache. */
  async function resolve(plaintext: string) {
    return new KeyDirectory(access.apiKeys).resolve(plaintext);
  }

  function declare(tenants: unknown[]): string {
    const path = join(folder, 'tenants.json');
    writeFileSync(path, JSON.stringify({ tenants }));
    return path;
  }
});
