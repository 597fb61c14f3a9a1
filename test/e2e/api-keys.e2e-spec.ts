import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { AccessServices } from '../support/access-services.js';
import type { BootedGateway } from '../support/boot-gateway.js';
import {
  bootCustomerGateways,
  refusal,
  type CustomerGateways,
} from '../support/customer-gateways.js';
import { until } from '../support/until.js';

const PATH = '/v1/customer/api-keys';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

interface CreatedKey {
  id: string;
  key: string;
}

const NO_LIMITS = {
  budgets: [],
  requests_per_minute: null,
  tokens_per_minute: null,
  max_in_flight: null,
  models: null,
  providers: null,
};

describe(PATH, () => {
  let gateways: CustomerGateways;
  let access: AccessServices;
  let gateway: BootedGateway;
  let other: BootedGateway;
  let call: CustomerGateways['call'];

  beforeAll(async () => {
    gateways = await bootCustomerGateways();
    ({ access, gateway, restricted: other, call } = gateways);
  });
  afterAll(() => gateways.close());

  async function create(fields: object = {}, key?: string): Promise<CreatedKey> {
    const { status, body } = await call('POST', PATH, { name: 'a key', ...fields }, key);
    expect(status).toBe(201);
    return body as unknown as CreatedKey;
  }

  describe('POST', () => {
    it('returns the record, the limit and the key, which works at once', async () => {
      const { status, body } = await call('POST', PATH, { name: 'billing service' });
      expect(status).toBe(201);
      expect(body).toEqual({
        id: expect.stringMatching(UUID),
        name: 'billing service',
        type: 'routing',
        parent_id: expect.stringMatching(UUID),
        key_preview: expect.stringMatching(/^sk-.{4}\.\.\..{4}$/),
        expires_at: null,
        is_active: true,
        rights: ['money', 'read', 'develop', 'own', 'content'],
        status: 'active',
        usage: { request_count: 0, total_spend: 0 },
        last_used_at: null,
        created_at: expect.stringMatching(ISO),
        updated_at: expect.stringMatching(ISO),
        rate_limit_per_minute: 600,
        monthly_spend_limit: null,
        monthly_spend: null,
        limits: NO_LIMITS,
        operator_limits: NO_LIMITS,
        content_log: null,
        key: expect.stringMatching(/^sk-[0-9A-Za-z]{43}$/),
      });
      const key = body.key as string;
      expect(body.key_preview).toBe(`${key.slice(0, 7)}...${key.slice(-4)}`);
      expect((await call('GET', PATH, undefined, key)).status).toBe(200);
    });

    it('accepts an expiry, a limit and a name with any characters', async () => {
      const name = 'NUL \u0000, \ud800 alone, back\\slash, 😀';
      const { body } = await call('POST', PATH, {
        name,
        expires_at: '2030-12-31T23:59:59+01:00',
        rate_limit_per_minute: 7,
      });
      expect(body).toMatchObject({
        name,
        expires_at: '2030-12-31T22:59:59.000Z',
        rate_limit_per_minute: 7,
      });
      expect((await call('GET', `${PATH}/${String(body.id)}`)).body.name).toBe(name);
    });

    it('lets only management keys create management keys', async () => {
      const fields = { name: 'ops', type: 'management' };
      expect(await call('POST', PATH, fields)).toEqual(refusal(403, 'permission_error', 'type'));
      const { key } = await create(fields, gateway.managementKey);
      expect(key).toMatch(/^sk-mgmt-[0-9A-Za-z]{43}$/);
    });

    it('creates no key with a higher limit than that of the creating key', async () => {
      const { key } = await create({ rate_limit_per_minute: 10 });
      expect(await call('POST', PATH, { name: 'n', rate_limit_per_minute: 11 }, key)).toEqual(
        refusal(403, 'permission_error', 'rate_limit_per_minute'),
      );
      expect((await call('POST', PATH, { name: 'n' }, key)).body.rate_limit_per_minute).toBe(10);
    });

    it.each([
      [{}, 'name'],
      [{ name: '' }, 'name'],
      [{ name: 'n'.repeat(256) }, 'name'],
      [{ name: 'n', expires_at: 'tomorrow' }, 'expires_at'],
      [{ name: 'n', expires_at: '2030-02-30' }, 'expires_at'],
      [{ name: 'n', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
      [{ name: 'n', rate_limit_per_minute: 0 }, 'rate_limit_per_minute'],
      [{ name: 'n', rate_limit_per_minute: 1_000_001 }, 'rate_limit_per_minute'],
      [{ name: 'n', rate_limit_per_minute: '5' }, 'rate_limit_per_minute'],
      [{ name: 'n', type: 'admin' }, 'type'],
      [{ name: 'n', key: 'sk-of-my-own-choice' }, 'key'],
    ])('answers 400 to %j, naming %s', async (body, param) => {
      expect(await call('POST', PATH, body)).toEqual(refusal(400, 'invalid_request_error', param));
    });

    it('checks the key before the body', async () => {
      const response = await fetch(gateway.url + PATH, {
        method: 'POST',
        headers: { authorization: 'Bearer sk-unknown', 'content-type': 'application/json' },
        body: '{ not json',
      });
      expect(response.status).toBe(401);
    });
  });

  describe('GET', () => {
    it("lists the tenant's keys, without any key in plaintext", async () => {
      const { id, key } = await create({ name: 'listed' });
      const { status, body } = await call('GET', PATH);
      expect(status).toBe(200);
      expect(Object.keys(body)).toEqual(['data']);
      expect((body.data as CreatedKey[])[0]).toMatchObject({ id, name: 'listed' });
      expect(JSON.stringify(body)).not.toContain(key);
      expect(JSON.stringify(body)).not.toContain(gateway.apiKey);
    });

    it('streams lists of any length', async () => {
      const made = await gateway.admin('POST', '/v1/admin/tenants', {
        name: 'with many keys',
        keys: ['management'],
      });
      const { id, keys } = (await made.json()) as { id: string; keys: { key: string }[] };
      // The list is sent in two pieces.
      await gateway.database.query(
        `INSERT INTO api_keys (tenant_id, type, name, key_hash, key_preview, rate_limit_per_minute)
         SELECT $1, 'routing', n::text, sha256(n::text::bytea), 'sk-', 1 FROM generate_series(1, 399) AS n`,
        [id],
      );
      const authorization = `Bearer ${keys[0]!.key}`;
      const response = await fetch(gateway.url + PATH, { headers: { authorization } });
      expect(response.headers.get('content-length')).toBeNull();
      const { data } = (await response.json()) as { data: CreatedKey[] };
      expect(new Set(data.map((each) => each.id)).size).toBe(400);
      expect(data).toHaveLength(400);
    });

    it('reads one key, as the list shows it', async () => {
      const { id } = await create();
      const { status, body } = await call('GET', `${PATH}/${id}`);
      expect(status).toBe(200);
      const { data } = (await call('GET', PATH)).body as { data: CreatedKey[] };
      expect(body).toEqual(data.find((entry) => entry.id === id));
      expect(body).not.toHaveProperty('key');
      expect(body).not.toHaveProperty('rate_limit_per_minute');
    });
  });

  describe('PATCH', () => {
    it('changes the name and the expiry; null clears the expiry', async () => {
      const { id } = await create({ name: 'old' });
      const expiring = await call('PATCH', `${PATH}/${id}`, {
        name: 'new',
        expires_at: '2031-01-01T00:00:00Z',
      });
      expect(expiring.status).toBe(200);
      expect(expiring.body).toMatchObject({ name: 'new', expires_at: '2031-01-01T00:00:00.000Z' });
      const cleared = await call('PATCH', `${PATH}/${id}`, { expires_at: null });
      expect(cleared.body).toMatchObject({ name: 'new', expires_at: null });
      expect(Date.parse(cleared.body.updated_at as string)).toBeGreaterThan(
        Date.parse(cleared.body.created_at as string),
      );
    });

    it.each([
      [{ is_active: false }, 'is_active'],
      [{ rate_limit_per_minute: 5 }, 'rate_limit_per_minute'],
      [{ name: 'n', status: 'active' }, 'status'],
      [{ name: 'n', constructor: {} }, 'constructor'],
      [JSON.parse('{"name": "n", "__proto__": {}}') as object, '__proto__'],
      [{ name: null }, 'name'],
      [{ expires_at: '2020-01-01' }, 'expires_at'],
    ])('answers 400 to %j, naming %s, and changes nothing', async (body, param) => {
      const { id } = await create({ name: 'unchanged' });
      expect(await call('PATCH', `${PATH}/${id}`, body)).toEqual(
        refusal(400, 'invalid_request_error', param),
      );
      expect((await call('GET', `${PATH}/${id}`)).body).toMatchObject({ name: 'unchanged' });
    });

    it('lets a key expire on time', async () => {
      const { id, key } = await create();
      expect((await call('GET', PATH, undefined, key)).status).toBe(200);
      let expiresAtMs = 0;
      // On a stalled machine, retries with a longer lifetime.
      for (const lifetimeMs of [600, 5_000]) {
        expiresAtMs = Date.now() + lifetimeMs;
        const expires_at = new Date(expiresAtMs).toISOString();
        await call('PATCH', `${PATH}/${id}`, { expires_at });
        const { status } = await call('GET', PATH, undefined, key);
        if (Date.now() >= expiresAtMs && lifetimeMs < 5_000) continue;
        expect(status).toBe(200);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, expiresAtMs - Date.now() + 20));
      const refused = await call('GET', PATH, undefined, key);
      expect(refused).toEqual(refusal(401, 'authentication_error', 'authorization'));
      expect(JSON.stringify(refused.body)).toContain('expired');
      expect((await call('GET', `${PATH}/${id}`)).body).toMatchObject({
        status: 'expired',
        is_active: false,
      });
    });
  });

  describe('DELETE', () => {
    it('revokes at once here and within a second on another instance, and can be repeated', async () => {
      const { id, key } = await create();
      const listKeys = (instance: BootedGateway) => call('GET', PATH, undefined, key, instance);
      expect([(await listKeys(gateway)).status, (await listKeys(other)).status]).toEqual([
        200, 200,
      ]);

      const revoked = await call('DELETE', `${PATH}/${id}`);
      expect(revoked.status).toBe(200);
      expect(revoked.body).toMatchObject({ id, status: 'revoked', is_active: false });
      const refused = await listKeys(gateway);
      expect(refused).toEqual(refusal(401, 'authentication_error', 'authorization'));
      expect(JSON.stringify(refused.body)).toContain('revoked');

      await until(async () => (await listKeys(other)).status !== 200, 20_000);
      expect(await call('DELETE', `${PATH}/${id}`)).toEqual(revoked);
      const { data } = (await call('GET', PATH)).body as { data: object[] };
      expect(data).toContainEqual(revoked.body);
    });

    it('lets only management keys revoke management keys', async () => {
      const { id } = await create({ type: 'management' }, gateway.managementKey);
      const forbidden = refusal(403, 'permission_error', 'authorization');
      expect(await call('DELETE', `${PATH}/${id}`)).toEqual(forbidden);
      expect(await call('PATCH', `${PATH}/${id}`, { expires_at: '2030-01-01' })).toEqual(forbidden);
      expect((await call('GET', `${PATH}/${id}`)).body).toMatchObject({
        status: 'active',
        expires_at: null,
      });
      expect((await call('DELETE', `${PATH}/${id}`, undefined, gateway.managementKey)).status).toBe(
        200,
      );
    });
  });

  it.each(['GET', 'PATCH', 'DELETE'])('answers 404 to %s of an unknown key', async (method) => {
    const tenantId = await access.makeTenant(randomUUID());
    const foreign = await access.makeKey({ tenantId, name: 'foreign' });
    const body = method === 'PATCH' ? { name: 'n' } : undefined;
    for (const id of [randomUUID(), 'not-a-uuid', `${foreign.id}0`, '%00', foreign.id]) {
      expect(await call(method, `${PATH}/${id}`, body)).toEqual(
        refusal(404, 'not_found_error', 'id'),
      );
    }
    expect(await access.apiKeys.findOfTenant(tenantId, foreign.id)).toMatchObject({
      name: 'foreign',
      revokedAt: null,
    });
  });

  it.each([
    {},
    { authorization: '' },
    { authorization: 'Bearer' },
    { authorization: 'Bearer sk-unknown' },
    { authorization: 'Basic c2stdW5rbm93bg==' },
    { 'x-api-key': 'sk-unknown' },
  ])('answers 401 to the headers %j', async (headers) => {
    const response = await fetch(gateway.url + PATH, {
      headers: headers as Record<string, string>,
    });
    expect({ status: response.status, body: await response.json() }).toEqual(
      refusal(401, 'authentication_error', 'authorization'),
    );
  });

  it('does not accept x-api-key here, even with a valid key', async () => {
    const response = await fetch(gateway.url + PATH, { headers: { 'x-api-key': gateway.apiKey } });
    expect(response.status).toBe(401);
  });

  it('restricts changes to management keys if configured', async () => {
    const { id } = await create();
    const forbidden = refusal(403, 'permission_error', 'authorization');
    for (const [method, path, body] of [
      ['POST', PATH, { name: 'n' }],
      ['PATCH', `${PATH}/${id}`, { name: 'n' }],
      ['DELETE', `${PATH}/${id}`, undefined],
    ] as const) {
      expect(await call(method, path, body, gateway.apiKey, other)).toEqual(forbidden);
    }
    expect((await call('GET', PATH, undefined, gateway.apiKey, other)).status).toBe(200);
    expect((await call('POST', PATH, { name: 'n' }, gateway.managementKey, other)).status).toBe(
      201,
    );
  });
});
