import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hash, randomBytes, randomUUID } from 'node:crypto';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { nextAddress } from '../support/customer-gateways.js';
import { createTestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const KEYS = '/v1/customer/api-keys';
const CREDENTIALS = '/v1/customer/provider-credentials';
const DESTINATIONS = '/v1/customer/broadcast/destinations';
const ALERTS = '/v1/customer/alerts';
const URL = 'http://127.0.0.1:9/x';
const ALL = ['money', 'read', 'develop', 'own', 'content'];
const CHAT = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'the secret word' }] };

interface Answer {
  status: number;
  body: Record<string, unknown>;
}
type Headers = Record<string, string>;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let gateway: BootedGateway;
let second: BootedGateway;

beforeAll(async () => {
  const environment = {
    GATEWAY_TRUSTED_PROXIES: '127.0.0.0/8, ::1',
    GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'true',
    GATEWAY_CONTENT_LOG: 'on',
    GATEWAY_CHECK_KEYS: 'off',
  };
  database = await createTestDatabase();
  gateway = await bootGateway(environment, { database });
  second = await bootGateway(
    { ...environment, GATEWAY_BOOTSTRAP_API_KEY: gateway.apiKey },
    { database },
  );
});
afterAll(async () => {
  await gateway.close();
  await second.close();
  await database.drop();
});

const bearer = (key: string): Headers => ({ authorization: `Bearer ${key}` });

async function send(
  method: string,
  path: string,
  by: Headers,
  body?: object,
  instance = gateway,
): Promise<Answer> {
  const response = await fetch(instance.url + path, {
    method,
    headers: {
      'x-forwarded-for': nextAddress(),
      ...by,
      ...(body && { 'content-type': 'application/json' }),
    },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
}

/** A logged-in person. */
async function person(role: string | null, operatorRole: string | null = null) {
  const { rows } = await gateway.database.query<{ id: string }>(
    `INSERT INTO people (issuer, subject, name, email, operator_role)
     VALUES ('i', $1, 'Ada', $1, $2) RETURNING id`,
    [randomUUID(), operatorRole],
  );
  const { id } = rows[0]!;
  if (role) {
    await gateway.database.query(
      `INSERT INTO memberships (person_id, tenant_id, role) VALUES ($1, $2, $3)`,
      [id, gateway.tenantId, role],
    );
  }
  const token = randomBytes(32).toString('base64url');
  await gateway.database.query(
    `INSERT INTO sessions (token_hash, person_id, expires_at)
     VALUES (decode($1, 'hex'), $2, now() + interval '1 hour')`,
    [hash('sha256', token, 'hex'), id],
  );
  const cookie = `gateway_session=${token}`;
  const { body } = await send('GET', '/v1/auth/session', { cookie });
  const headers: Headers = {
    cookie,
    'x-csrf-token': String(body.csrf_token),
    'sec-fetch-site': 'same-origin',
    ...(operatorRole && { 'x-gateway-tenant': gateway.tenantId }),
  };
  return { id, headers };
}

async function makeKey(by: Headers, type = 'routing', path = KEYS): Promise<Answer['body']> {
  const { status, body } = await send('POST', path, by, { name: 'made', type });
  expect(status).toBe(201);
  return body;
}
const headersOf = (made: Answer['body']): Headers => bearer(String(made.key));
const adminPath = (): string => `/v1/admin/tenants/${gateway.tenantId}/api-keys`;

type Make = (type: 'routing' | 'management') => Promise<Answer['body']>;
/** Everyone who creates a tenant's keys, and the rights that those keys lack. */
const MAKERS: Record<string, { make: Make; lacks: string[] }> = {
  'a management key': { make: (type) => makeKey(bearer(gateway.managementKey), type), lacks: [] },
  'an owner': { make: async (type) => makeKey((await person('owner')).headers, type), lacks: [] },
  'a management key of an owner': {
    make: async (type) =>
      makeKey(headersOf(await makeKey((await person('owner')).headers, 'management')), type),
    lacks: [],
  },
  'an operator': {
    make: (type) => makeKey(bearer(gateway.adminKey), type, adminPath()),
    lacks: ['content'],
  },
  'an operator acting for the tenant': {
    make: async (type) => makeKey((await person(null, 'admin')).headers, type),
    lacks: ['content'],
  },
  'a management key of an operator': {
    make: async (type) =>
      makeKey(headersOf(await makeKey(bearer(gateway.adminKey), 'management', adminPath())), type),
    lacks: ['content'],
  },
};
const ROUTING_MAKERS: typeof MAKERS = {
  ...MAKERS,
  'a developer': {
    make: async () => makeKey((await person('developer')).headers),
    lacks: ['own', 'content'],
  },
  'a routing key of a developer': {
    make: async () => makeKey(headersOf(await makeKey((await person('developer')).headers))),
    lacks: ['own', 'content'],
  },
  'a routing key': { make: () => makeKey(bearer(gateway.apiKey)), lacks: [] },
};
const rightsWithout = (lacks: string[]): string[] => ALL.filter((right) => !lacks.includes(right));

/** Removes all destinations, since a tenant may have only five. */
const clear = (): Promise<unknown> => gateway.database.query('DELETE FROM broadcast_destinations');

describe('the rights of a key', () => {
  it.each(Object.entries(ROUTING_MAKERS))(
    'limit a routing key created by %s',
    async (_, { make, lacks }) => {
      await clear();
      const made = await make('routing');
      const by = headersOf(made);
      const { body } = await send(
        'GET',
        `${KEYS}/${String(made.id)}`,
        bearer(gateway.managementKey),
      );
      expect(body.rights).toEqual(rightsWithout(lacks));
      const scope = { type: 'key', api_key_id: made.id };
      const account = await send('POST', CREDENTIALS, by, {
        provider: 'openai',
        key: 'sk-vendor-1',
      });
      expect(account.status).toBe(lacks.includes('own') ? 403 : 201);
      if (account.status === 201) expect(account.body.scope).toEqual(scope);
      const alert = await send('POST', ALERTS, by, {
        ...{ name: 'a', kind: 'balance_below', condition: { credits: 1 }, url: URL },
      });
      expect(alert).toMatchObject({ status: 201, body: { scope } });
      await send('DELETE', `${ALERTS}/${String(alert.body.id)}`, by);
      const plain = await send('POST', DESTINATIONS, by, { url: URL });
      expect(plain).toMatchObject({ status: 201, body: { scope } });
      const path = `${DESTINATIONS}/${String(plain.body.id)}`;
      const expected = lacks.includes('content') ? 403 : 200;
      expect((await send('PUT', path, by, { include_content: true })).status).toBe(expected);
      const open = await send('POST', DESTINATIONS, by, { url: URL, include_content: true });
      expect(open.status).toBe(lacks.includes('content') ? 403 : 201);
      expect((await send('POST', '/v1/chat/completions', by, CHAT)).status).toBe(200);
      expect((await send('GET', '/v1/customer/content-log', by)).status).toBe(403);
    },
  );

  it.each(Object.entries(MAKERS))(
    'limit a management key created by %s',
    async (_, { make, lacks }) => {
      await clear();
      const by = headersOf(await make('management'));
      const caller = { ...bearer(gateway.apiKey), 'x-forwarded-for': nextAddress() };
      const response = await gateway.post('/v1/chat/completions', CHAT, caller);
      await response.text();
      const path = `/v1/customer/logs/${response.headers.get('x-request-id')}/content`;
      if (lacks.length > 0) {
        expect((await send('GET', path, by)).status).toBe(403);
        expect(
          (await send('PATCH', '/v1/customer/content-log', by, { enabled: true })).status,
        ).toBe(403);
        const excerpts = '/v1/customer/guardrail-events?excerpts=true';
        expect((await send('GET', excerpts, by)).status).toBe(403);
      } else {
        let answer: Answer | undefined;
        await until(async () => (answer = await send('GET', path, by)).status === 200);
        expect(JSON.stringify(answer!.body)).toContain('the secret word');
      }
      const fields = { url: URL, include_content: true };
      const open = await send('POST', DESTINATIONS, by, fields);
      expect(open.status).toBe(lacks.length > 0 ? 403 : 201);
      const plain = await send('POST', DESTINATIONS, by, { url: URL });
      expect(plain).toMatchObject({ status: 201, body: { scope: { type: 'tenant' } } });
      const invited = { email: `${randomUUID()}@acme.example`, role: 'owner' };
      const invitation = await send('POST', '/v1/customer/invitations', by, invited);
      expect(invitation.status).toBe(lacks.length > 0 ? 403 : 201);
      const session = await send('POST', '/v1/auth/key', {}, { key: by.authorization!.slice(7) });
      expect(session.status).toBeLessThan(300);
    },
  );

  it('keep an operator’s key from reading jobs and videos of other keys', async () => {
    const by = headersOf(await makeKey(bearer(gateway.adminKey), 'routing', adminPath()));
    const submit = async (headers: Headers): Promise<string> => {
      const body = { model: 'sandbox/video', prompt: 'the secret barn' };
      const { status, body: made } = await send('POST', '/v1/videos', headers, body);
      expect(status).toBe(200);
      return String(made.id);
    };
    const [other, own] = [await submit(bearer(gateway.apiKey)), await submit(by)];
    for (const path of ['videos', 'jobs', 'customer/jobs']) {
      expect((await send('GET', `/v1/${path}/${other}`, by)).status).toBe(404);
      expect((await send('GET', `/v1/${path}/${own}`, by)).status).toBe(200);
    }
    const { body } = await send('GET', '/v1/videos', by);
    expect(body.data).toMatchObject([{ id: own }]);
    const both = await send('GET', '/v1/videos', bearer(gateway.apiKey));
    expect(both.body.data).toHaveLength(2);
  });

  it.each([
    ['an owner', 'owner', null, [201, 201, 201, 201]],
    ['a developer', 'developer', null, [403, 201, 403, 201]],
    ['a viewer', 'viewer', null, [403, 403, 403, 403]],
    ['an operator acting for the tenant', null, 'admin', [201, 201, 403, 201]],
  ])(
    'let %s store what the role allows for the whole tenant',
    async (_, role, operator, expected) => {
      await clear();
      const { headers } = await person(role, operator);
      const alert = { name: 'a', kind: 'balance_below', condition: { credits: 1 }, url: URL };
      const answers = [
        await send('POST', CREDENTIALS, headers, { provider: 'openai', key: 'sk-vendor-1' }),
        await send('POST', DESTINATIONS, headers, { url: URL }),
        await send('POST', DESTINATIONS, headers, { url: URL, include_content: true }),
        await send('POST', ALERTS, headers, alert),
      ];
      expect(answers.map(({ status }) => status)).toEqual(expected);
      for (const { status, body } of answers) {
        if (status === 201) expect(body.scope).toEqual({ type: 'tenant', api_key_id: null });
      }
    },
  );

  it('keep developers and operators from creating or redirecting a destination with texts', async () => {
    await clear();
    const owner = bearer(gateway.managementKey);
    const made = await send('POST', DESTINATIONS, owner, { url: URL, include_content: true });
    const path = `${DESTINATIONS}/${String(made.body.id)}`;
    for (const { headers } of [await person('developer'), await person(null, 'admin')]) {
      const fields = { url: URL, include_content: true };
      expect((await send('POST', DESTINATIONS, headers, fields)).status).toBe(403);
      for (const change of [
        { url: `${URL}/elsewhere` },
        { headers: { 'x-key': 'a' } },
        { include_content: true },
        { enabled: true },
        { enabled: false, url: `${URL}/elsewhere` },
      ]) {
        const answer = await send('PUT', path, headers, change);
        expect([change, answer.status]).toEqual([change, 403]);
      }
      expect((await send('PUT', path, headers, { enabled: false })).status).toBe(200);
      expect((await send('PUT', path, owner, { enabled: true })).status).toBe(200);
    }
    const { headers } = await person('developer');
    expect(
      (await send('PUT', path, headers, { include_content: false, url: `${URL}2` })).status,
    ).toBe(200);
    expect((await send('PUT', path, headers, { include_content: true })).status).toBe(403);
  });

  it('are granted by those who have them, and never by the key itself', async () => {
    const made = await makeKey(bearer(gateway.adminKey), 'management', adminPath());
    const path = `${KEYS}/${String(made.id)}`;
    const grant = { rights: ALL };
    expect((await send('PATCH', path, headersOf(made), grant)).status).toBe(403);
    expect((await send('PATCH', path, (await person(null, 'admin')).headers, grant)).status).toBe(
      403,
    );
    expect((await send('PATCH', path, (await person('developer')).headers, grant)).status).toBe(
      403,
    );
    const owner = await person('owner');
    const granted = await send('PATCH', path, owner.headers, grant);
    expect(granted).toMatchObject({ status: 200, body: { rights: ALL } });
    expect((await send('GET', '/v1/customer/content-log', headersOf(made))).status).toBe(200);
    const log = await send('GET', '/v1/customer/audit-log?limit=1', owner.headers);
    expect(JSON.stringify(log.body)).toContain('withheld_rights');
    const reduced = await send('PATCH', path, owner.headers, { rights: ['read'] });
    expect(reduced).toMatchObject({ status: 200, body: { rights: ['read'] } });
    expect((await send('GET', '/v1/customer/credits', headersOf(made))).status).toBe(403);
    expect((await send('PATCH', path, owner.headers, { rights: ['all'] })).status).toBe(400);
  });

  it('shrink with the role of the member who created the key, on every instance and for descendants', async () => {
    const owner = await person('owner');
    const management = headersOf(await makeKey(owner.headers, 'management'));
    const routing = headersOf(await makeKey(management));
    const child = headersOf(await makeKey(routing));
    const statuses = async (instance: BootedGateway): Promise<number[]> => {
      const content = await send(
        'GET',
        '/v1/customer/content-log',
        management,
        undefined,
        instance,
      );
      const body = { provider: 'openai', key: 'sk-vendor-1' };
      const own = await send('POST', `${CREDENTIALS}/test`, child, body, instance);
      const read = await send('GET', KEYS, routing, undefined, instance);
      const model = await send('POST', '/v1/chat/completions', child, CHAT, instance);
      return [content.status, own.status, read.status, model.status];
    };
    const settled = async (expected: number[]): Promise<void> => {
      for (const instance of [gateway, second]) {
        let seen: number[] = [];
        await until(async () => {
          seen = await statuses(instance);
          return JSON.stringify(seen) === JSON.stringify(expected);
        }).catch(() => undefined);
        expect(seen).toEqual(expected);
      }
    };
    await settled([200, 200, 200, 200]);
    await gateway.database.query(`UPDATE memberships SET role = 'developer' WHERE person_id = $1`, [
      owner.id,
    ]);
    await settled([403, 403, 200, 200]);
    await gateway.database.query(`DELETE FROM memberships WHERE person_id = $1`, [owner.id]);
    await settled([403, 403, 403, 200]);
  });
});
