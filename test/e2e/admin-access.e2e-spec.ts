import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { nextAddress, refusal, type JsonAnswer } from '../support/customer-gateways.js';

let gateway: BootedGateway;

beforeAll(async () => {
  gateway = await bootGateway({ GATEWAY_TRUSTED_PROXIES: '127.0.0.0/8, ::1' });
});
afterAll(() => gateway.close());

async function call(
  path: string,
  key: string | undefined,
  { method = 'GET', address = nextAddress() } = {},
): Promise<JsonAnswer> {
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      'x-forwarded-for': address,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
  });
  return { status: response.status, body: (await response.json()) as JsonAnswer['body'] };
}

describe("an operator's key", () => {
  it('identifies itself', async () => {
    const answer = await call('/v1/admin/whoami', gateway.adminKey);
    expect(answer).toMatchObject({
      status: 200,
      body: { kind: 'admin_key', name: 'First admin key', role: 'admin' },
    });
  });

  it.each(['/v1/customer/api-keys', '/v1/models', '/api/v1/key', '/v1/generation?id=1'])(
    'does not give access to %s',
    async (path) => {
      const { status, body } = await call(path, gateway.adminKey);
      expect(status).toBe(401);
      expect(JSON.stringify(body)).toContain('/v1/admin');
    },
  );

  it('is required: 401 without one and for unknown ones, 403 for tenants’ keys', async () => {
    const unknown = refusal(401, 'authentication_error', 'authorization');
    for (const key of [undefined, 'sk-admin-unknown-1234', 'sk-unknown-12345678', 'word']) {
      expect(await call('/v1/admin/whoami', key)).toEqual(unknown);
    }
    for (const key of [gateway.apiKey, gateway.managementKey]) {
      expect(await call('/v1/admin/whoami', key)).toEqual(
        refusal(403, 'permission_error', 'authorization'),
      );
    }
  });

  it('is protected against guessing', async () => {
    const address = nextAddress();
    const statuses = new Set<number>();
    for (let count = 0; count < 102; count++) {
      const { status } = await call('/v1/admin/whoami', `sk-admin-guess-${count}`, { address });
      statuses.add(status);
    }
    expect([...statuses]).toEqual([401, 429]);
  });
});

interface AdminKey {
  id: string;
  key: string;
  status: string;
}

const make = async (body: object): Promise<AdminKey> => {
  const response = await gateway.admin('POST', '/v1/admin/keys', body);
  expect(response.status).toBe(201);
  return (await response.json()) as AdminKey;
};
const auditRows = async (id: string): Promise<Record<string, unknown>[]> =>
  (await gateway.database.query('SELECT * FROM audit_log WHERE target_id = $1 ORDER BY id', [id]))
    .rows;
const countRows = async (): Promise<number> =>
  (await gateway.database.query('SELECT FROM audit_log')).rows.length;

describe('/v1/admin/keys', () => {
  it('creates working keys and revokes them, audited without the key', async () => {
    const { id, key } = await make({
      name: 'script \u0000',
      role: 'admin',
      expires_at: '2100-01-01',
    });
    expect(key).toMatch(/^sk-admin-[0-9A-Za-z]{43}$/);
    expect(await call('/v1/admin/whoami', key)).toMatchObject({ body: { id, role: 'admin' } });
    const shown = { id, name: 'script \u0000', status: 'active', role: 'admin' };
    expect(await call(`/v1/admin/keys/${id}`, gateway.adminKey)).toMatchObject({ body: shown });

    for (const _ of ['once', 'again']) {
      const revoked = await call(`/v1/admin/keys/${id}`, gateway.adminKey, { method: 'DELETE' });
      expect(revoked).toMatchObject({ status: 200, body: { id, status: 'revoked' } });
    }
    expect(await call('/v1/admin/whoami', key)).toMatchObject({ status: 401 });
    const rows = await auditRows(id);
    expect(rows).toMatchObject([
      {
        action: 'admin_key.create',
        actor_kind: 'admin_key',
        actor_name: 'First admin key',
        before: null,
      },
      { action: 'admin_key.revoke', before: { revoked_at: null }, after: { role: 'admin' } },
    ]);
    expect(JSON.stringify(rows)).not.toContain(key);
  });

  it('lets an auditor read everything and change nothing', async () => {
    const { id, key } = await make({ name: 'auditor', role: 'auditor' });
    expect(await call('/v1/admin/whoami', key)).toMatchObject({ body: { role: 'auditor' } });
    expect(await call(`/v1/admin/keys/${id}`, key)).toMatchObject({ status: 200 });
    const before = await countRows();
    for (const method of ['POST', 'DELETE']) {
      const path = method === 'POST' ? '/v1/admin/keys' : `/v1/admin/keys/${id}`;
      expect(await call(path, key, { method })).toEqual(
        refusal(403, 'permission_error', 'authorization'),
      );
    }
    expect(await countRows()).toBe(before);
  });

  it('rejects expired keys', async () => {
    const { id, key } = await make({ name: 'short', role: 'admin', expires_at: '2100-01-01' });
    await gateway.database.query(`UPDATE admin_keys SET expires_at = now() WHERE id = $1`, [id]);
    expect(await call('/v1/admin/whoami', key)).toMatchObject({ status: 401 });
    expect(await call(`/v1/admin/keys/${id}`, gateway.adminKey)).toMatchObject({
      body: { status: 'expired' },
    });
  });

  it('lists all of them, page by page', async () => {
    await make({ name: 'one more', role: 'auditor' });
    const { body: whole } = await call('/v1/admin/keys?limit=200', gateway.adminKey);
    const ids = (whole.data as AdminKey[]).map(({ id }) => id);
    const found: string[] = [];
    let cursor = '';
    do {
      const { body } = await call(`/v1/admin/keys?limit=2${cursor}`, gateway.adminKey);
      const page = body as { data: AdminKey[]; has_more: boolean; next_cursor: string };
      found.push(...page.data.map(({ id }) => id));
      cursor = page.has_more ? `&cursor=${page.next_cursor}` : '';
    } while (cursor !== '');
    expect(found).toEqual(ids);
    expect(JSON.stringify(whole)).not.toMatch(/key_hash|sk-admin-\w{20}/);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['cursor=abc', 'cursor'],
    ['offset=1', 'offset'],
  ])('rejects the query %s', async (query, param) => {
    expect(await call(`/v1/admin/keys?${query}`, gateway.adminKey)).toEqual(
      refusal(400, 'invalid_request_error', param),
    );
  });

  it.each([
    [{ role: 'admin' }, 'name'],
    [{ name: 'n' }, 'role'],
    [{ name: 'n', role: 'owner' }, 'role'],
    [{ name: 'n', role: 'admin', expires_at: '2020-01-01' }, 'expires_at'],
    [{ name: 'n', role: 'admin', key: 'sk-admin-of-my-own' }, 'key'],
  ])('rejects the body %j', async (body, param) => {
    const before = await countRows();
    const response = await gateway.admin('POST', '/v1/admin/keys', body);
    expect({ status: response.status, body: await response.json() }).toEqual(
      refusal(400, 'invalid_request_error', param),
    );
    expect(await countRows()).toBe(before);
  });

  it.each(['nothing', '7b0c2a52-3f0a-4b39-9d0f-0f9d2b6f1a01'])(
    'returns 404 for key %s',
    async (id) => {
      for (const method of ['GET', 'DELETE']) {
        expect(await call(`/v1/admin/keys/${id}`, gateway.adminKey, { method })).toEqual(
          refusal(404, 'not_found_error', 'id'),
        );
      }
    },
  );

  it('keeps the last admin key, even when two are revoked at once', async () => {
    const own = await call('/v1/admin/whoami', gateway.adminKey);
    await gateway.database.query(
      `UPDATE admin_keys SET revoked_at = coalesce(revoked_at, now()) WHERE id <> $1`,
      [own.body.id],
    );
    const revoke = (id: string) =>
      call(`/v1/admin/keys/${id}`, gateway.adminKey, { method: 'DELETE' });
    const last = String(own.body.id);
    expect(await revoke(last)).toEqual(refusal(409, 'conflict_error', 'id'));
    const { id } = await make({ name: 'second', role: 'admin' });
    const answers = await Promise.all([revoke(id), revoke(last)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});
