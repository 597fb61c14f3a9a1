import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyDirectory } from '../../src/core/access/key-directory.service.js';
import { runCommand } from '../../src/app/commands/run-command.js';
import { loadSettings } from '../../src/app/load-settings.js';
import { openAccessServices, type AccessServices } from '../support/access-services.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe("the operator's commands", () => {
  let testDatabase: TestDatabase;
  let access: AccessServices;

  beforeAll(async () => {
    // Not migrated, since a command may run before the service's first start.
    testDatabase = await createTestDatabase({ migrate: false });
    expect(await run('tenant', 'list')).toMatchObject({ code: 0, errors: '' });
    access = await openAccessServices(testDatabase.url);
  });

  afterAll(async () => {
    await access.close();
    await testDatabase.drop();
  });

  it('create a tenant, grant it credits and list it', async () => {
    expect(await run('tenant', 'create', 'acme', '--credits', '5')).toMatchObject({ code: 0 });
    expect(await run('tenant', 'grant', 'acme', '7')).toMatchObject({ code: 0 });
    const { output } = await run('tenant', 'list');
    expect(output).toMatch(/^NAME +BALANCE +HELD +SPENT +KEYS +CREATED\nacme +12 +0 +0 +0 +2/);
  });

  it("create, list and revoke operators' keys, including the last one", async () => {
    const made = await run(
      'admin',
      'create',
      'on call',
      '--role',
      'auditor',
      '--expires',
      '2100-01-01',
    );
    expect(made).toMatchObject({ code: 0, output: expect.stringContaining('role auditor') });
    const key = made.output.trim().split('\n').at(-1)!;
    expect(key).toMatch(/^sk-admin-[0-9A-Za-z]{43}$/);
    const id = /^Id: +(\S+)$/m.exec(made.output)![1]!;
    const listed = async (): Promise<string | undefined> =>
      (await run('admin', 'list')).output.split('\n').find((line) => line.startsWith(id));
    expect(await listed()).toMatch(
      / sk-admin-\w{4}\.{3}\w{4} +auditor +active +never .*"on call"$/,
    );
    expect(await run('admin', 'revoke', id)).toMatchObject({ code: 0 });
    expect(await listed()).toContain(' revoked ');
    expect(await run('admin', 'revoke', id)).toMatchObject({ code: 0 });
    expect(await run('admin', 'revoke', randomUUID())).toMatchObject({
      code: 1,
      errors: expect.stringContaining('no admin key'),
    });
    expect(await run('admin', 'create', 'x', '--role', 'owner')).toMatchObject({ code: 2 });

    await run('admin', 'create', 'last');
    const last = /^(\S+).* active /m.exec((await run('admin', 'list')).output)![1]!;
    expect(await run('admin', 'revoke', last)).toMatchObject({ code: 0 });
    const { rows } = await testDatabase.database.query(
      `SELECT action, actor_kind, request_id FROM audit_log WHERE target_id = $1 ORDER BY id`,
      [id],
    );
    const row = { actor_kind: 'command', request_id: null };
    expect(rows).toEqual([
      { action: 'admin_key.create', ...row },
      { action: 'admin_key.revoke', ...row },
    ]);
  });

  it('audit each change, and nothing when they fail', async () => {
    const key = (output: string): string => /^Id: +(\S+)$/m.exec(output)![1]!;
    expect(await run('tenant', 'create', 'audited', '--credits', '5')).toMatchObject({ code: 0 });
    expect(await run('tenant', 'create', 'audited')).toMatchObject({ code: 1 });
    await run('tenant', 'grant', 'audited', '7');
    await run('tenant', 'limit', 'audited', '100');
    await run('tenant', 'limit', 'audited', '100');
    await run('tenant', 'limit', 'audited', 'none');
    const made = await run('key', 'create', 'audited', '--name', 'of the command');
    await run('key', 'revoke', key(made.output));
    await run('key', 'revoke', key(made.output));
    const { rows } = await testDatabase.database.query(
      `SELECT action, actor_kind, before, after FROM audit_log JOIN tenants ON tenants.id = tenant_id
        WHERE tenants.name = 'audited' ORDER BY audit_log.id`,
    );
    expect(rows).toMatchObject([
      { action: 'tenant.create', before: null, after: { name: 'audited' } },
      { action: 'ledger.grant', before: null, after: { credits: 5 } },
      { action: 'ledger.grant', before: null, after: { credits: 7 } },
      { action: 'tenant.update', before: { monthly_spend_limit: null } },
      { action: 'tenant.update', before: { monthly_spend_limit: 100 } },
      { action: 'api_key.create', before: null, after: { name: 'of the command' } },
      { action: 'api_key.revoke', before: { revoked_at: null } },
    ]);
    expect(new Set(rows.map(({ actor_kind: kind }) => kind as string))).toEqual(
      new Set(['command']),
    );
    expect(JSON.stringify(rows)).not.toContain(made.output.trim().split('\n').at(-1));
  });

  it('correct, suspend, resume and delete a tenant', async () => {
    await run('tenant', 'create', 'wavering', '--credits', '50');
    const { id } = (await access.tenants.findByName('wavering'))!;
    const state = () => access.tenants.find(id);
    expect(
      await run('tenant', 'correct', 'wavering', '--credits=-20', '--memo', 'slip'),
    ).toMatchObject({ code: 0 });
    expect(await run('tenant', 'correct', 'wavering', '--credits', '5')).toMatchObject({ code: 0 });
    expect(await state()).toMatchObject({ balance: 35, status: 'active' });
    expect(await run('tenant', 'correct', 'wavering', '--credits=-36')).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/^No more than 35 credits can be taken.*\n$/),
    });
    for (const wrong of ['0', '-', '1.5', '--5']) {
      expect(await run('tenant', 'correct', 'wavering', `--credits=${wrong}`)).toMatchObject({
        code: 2,
      });
    }
    expect(await run('tenant', 'delete', 'wavering')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('Suspend it first'),
    });
    expect(await run('tenant', 'suspend', 'wavering')).toMatchObject({ code: 0 });
    expect(await state()).toMatchObject({ status: 'suspended' });
    expect(await run('tenant', 'resume', 'wavering')).toMatchObject({ code: 0 });
    expect(await state()).toMatchObject({ status: 'active' });
    await run('tenant', 'suspend', 'wavering');
    await testDatabase.database.query(
      `UPDATE tenants SET suspended_at = suspended_at - interval '1 minute' WHERE id = $1`,
      [id],
    );
    expect(await run('tenant', 'delete', 'wavering')).toMatchObject({
      code: 0,
      output: expect.stringContaining(`deleted ${id}`),
    });
    expect(await state()).toMatchObject({ status: 'deleted', balance: 0 });
  });

  it("set and lift a tenant's monthly limit", async () => {
    await run('tenant', 'create', 'limited');
    const limit = async (): Promise<number | null | undefined> => {
      const { rows } = await testDatabase.database.query<{ credits: number | null }>(
        `SELECT monthly_spend_limit AS credits FROM tenants WHERE name = 'limited'`,
      );
      return rows[0]?.credits;
    };
    expect(await run('tenant', 'limit', 'limited', '0')).toMatchObject({ code: 0 });
    expect(await limit()).toBe(0);
    expect(await run('tenant', 'limit', 'limited', '5000')).toMatchObject({ code: 0 });
    expect(await limit()).toBe(5000);
    expect(await run('tenant', 'limit', 'limited', 'none')).toMatchObject({ code: 0 });
    expect(await limit()).toBeNull();
  });

  it("set a new key's monthly limit", async () => {
    await run('tenant', 'create', 'thrifty');
    const make = (...options: string[]) => run('key', 'create', 'thrifty', ...options);
    const { code, output } = await make('--name', 'capped', '--monthly-spend-limit', '700');
    expect([code, output]).toEqual([0, expect.stringContaining('700 credits a month')]);
    expect(await make('--name', 'free')).toMatchObject({ code: 0 });
    for (const wrong of ['0', '1.5', 'none']) {
      expect(await make('--monthly-spend-limit', wrong)).toMatchObject({
        code: 2,
        errors: expect.stringContaining('--monthly-spend-limit'),
      });
    }
    const { rows } = await testDatabase.database.query(
      `SELECT api_keys.name, api_keys.monthly_spend_limit AS credits
         FROM api_keys JOIN tenants ON tenants.id = tenant_id
        WHERE tenants.name = 'thrifty' AND api_keys.name IN ('capped', 'free') ORDER BY 1`,
    );
    expect(rows).toEqual([
      { name: 'capped', credits: 700 },
      { name: 'free', credits: null },
    ]);
  });

  it('reject a duplicate tenant name', async () => {
    await run('tenant', 'create', 'twin', '--credits', '5');
    expect(await run('tenant', 'create', 'twin', '--credits', '5')).toEqual({
      code: 1,
      output: '',
      errors: 'A tenant named "twin" already exists. Choose another name.\n',
    });
    const tenants = await access.tenants.list();
    expect(tenants.filter(({ name }) => name === 'twin')).toEqual([
      expect.objectContaining({ balance: 5 }),
    ]);
  });

  it('print a new key once, which works until it is revoked', async () => {
    const tenant = randomUUID();
    await run('tenant', 'create', tenant);
    const { code, output } = await run(
      ...['key', 'create', tenant, '--type', 'management', '--name', 'Ops'],
      ...['--rate-limit', '9', '--expires', '2030-12-31'],
    );
    expect(code).toBe(0);
    const keys = output.match(/sk-mgmt-[0-9A-Za-z]{43}/g) ?? [];
    expect(keys).toHaveLength(1);

    const resolve = () => new KeyDirectory(access.apiKeys).resolve(keys[0]!);
    const known = await resolve();
    expect(known).toMatchObject({
      status: 'active',
      caller: { keyType: 'management', rateLimitPerMinute: 9 },
    });
    const { tenantId, apiKeyId } = known!.caller;
    expect(await access.apiKeys.findOfTenant(tenantId, apiKeyId)).toMatchObject({
      name: 'Ops',
      expiresAt: new Date('2030-12-31T00:00:00Z'),
    });
    expect(output).toContain(apiKeyId);

    expect(await run('key', 'revoke', apiKeyId)).toMatchObject({ code: 0 });
    expect(await resolve()).toMatchObject({ status: 'revoked' });
    expect(await run('key', 'revoke', apiKeyId)).toMatchObject({ code: 0 });
  });

  it('report an unknown tenant or key in one line', async () => {
    const id = randomUUID();
    for (const words of [
      ['tenant', 'grant', 'nobody', '5'],
      ['tenant', 'limit', 'nobody', '5'],
      ['key', 'create', 'nobody'],
      ['key', 'revoke', id],
    ]) {
      const { code, output, errors } = await run(...words);
      expect([code, output]).toEqual([1, '']);
      expect(errors).toMatch(/^there is no (tenant "nobody"|key with id).*\n$/);
    }
  });

  it('report an unreachable database in one line', async () => {
    const { code, errors } = await runWith('postgres://127.0.0.1:1/gateway', 'tenant', 'list');
    expect(code).toBe(1);
    expect(errors).toMatch(/^.*ECONNREFUSED.*\n$/);
  });

  it('create a configuration version with the prices of a list, and no second one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'prices-'));
    const list = join(folder, 'list.json');
    const price = { litellm_provider: 'xai', input_cost_per_token: 1e-6, output_cost_per_token: 0 };
    writeFileSync(list, JSON.stringify({ 'grok-4.3': price }));
    const apply = (...words: string[]) => run('catalogue', 'update', list, '--apply', ...words);
    const shown = async (): Promise<unknown> => JSON.parse((await run('config', 'show')).output);

    expect(await run('catalogue', 'update', list, '--in-force')).toMatchObject({ code: 2 });
    const first = await apply();
    expect(first.errors).toContain('1 are held back');
    expect(first.output).toContain('Version 1 of the configuration has them');
    const id = 'xai/grok-4.3';
    expect(await shown()).toMatchObject({ models: [{ id, pricing: { prompt: '0.000001' } }] });
    expect((await apply('--accept', 'grok-4.3')).errors).toContain('no price of that name');
    const second = await apply('--accept', `${id}:completion`);
    expect({ code: second.code, errors: second.errors }).toEqual({ code: 0, errors: '' });
    const pricing = { prompt: '0.000001', completion: '0' };
    expect(await shown()).toMatchObject({
      models: [{ id, pricing, source: expect.stringContaining('LiteLLM') }],
    });
    expect((await apply()).output).toContain('Version 2 of the configuration stays');
    rmSync(folder, { recursive: true });
  });

  it('find the catalogue complete', async () => {
    expect(await run('catalogue', 'check')).toMatchObject({ code: 0, errors: '' });
  });

  function run(...words: string[]) {
    return runWith(testDatabase.url, ...words);
  }
});

async function runWith(databaseUrl: string, ...words: string[]) {
  let output = '';
  let errors = '';
  const code = await runCommand(words, {
    loadConfig: () => loadSettings({ DATABASE_URL: databaseUrl, GATEWAY_SECRET: 'x'.repeat(32) }),
    print: (line) => (output += `${line}\n`),
    printError: (line) => (errors += `${line}\n`),
  });
  return { code, output, errors };
}
