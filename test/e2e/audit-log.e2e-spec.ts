import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ApiDescription } from '../support/api-description.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';

/** Stands in every body where a secret may stand, and in no row. */
const PLANTED = 'planted-0123456789-secret';

/** Something that a path names, and how it is made. */
const THINGS = {
  'api-key': ['/v1/customer/api-keys', { name: 'made' }],
  guardrail: ['/v1/customer/guardrails', { name: 'made', rules: [{ type: 'secret' }] }],
  credential: ['/v1/customer/provider-credentials', { provider: 'openai', key: `sk-${PLANTED}` }],
  destination: [
    '/v1/customer/broadcast/destinations',
    {
      url: `http://127.0.0.1:9/${PLANTED}?token=${PLANTED}`,
      headers: { authorization: `Bearer ${PLANTED}` },
    },
  ],
  'admin-key': ['/v1/admin/keys', { name: 'made', role: 'admin' }],
} as const satisfies Record<string, readonly [string, object]>;

type Thing = keyof typeof THINGS;

interface Rule {
  /** Of its row. */
  action: string;
  /** What the path's id is of. */
  of?: Thing;
  body?: object;
}

const makes = (thing: Thing, action: string): Rule => ({ action, body: THINGS[thing][1] });

/** Every operation that changes something. Whoever adds one says here which row it leaves. */
const RULES: Record<string, Rule> = {
  'POST /v1/customer/api-keys': makes('api-key', 'api_key.create'),
  'PATCH /v1/customer/api-keys/{id}': {
    action: 'api_key.update',
    of: 'api-key',
    body: { name: `sk-${PLANTED}` },
  },
  'DELETE /v1/customer/api-keys/{id}': { action: 'api_key.revoke', of: 'api-key' },
  'POST /v1/customer/guardrails': makes('guardrail', 'guardrail.create'),
  'PUT /v1/customer/guardrails/{id}': {
    action: 'guardrail.update',
    of: 'guardrail',
    body: { is_enabled: false },
  },
  'DELETE /v1/customer/guardrails/{id}': { action: 'guardrail.delete', of: 'guardrail' },
  'POST /v1/customer/provider-credentials': makes('credential', 'provider_credential.create'),
  'DELETE /v1/customer/provider-credentials/{id}': {
    action: 'provider_credential.delete',
    of: 'credential',
  },
  'POST /v1/customer/broadcast/destinations': makes('destination', 'broadcast_destination.create'),
  'PUT /v1/customer/broadcast/destinations/{id}': {
    action: 'broadcast_destination.update',
    of: 'destination',
    // Of the headers only the value changes.
    body: { headers: { authorization: `Basic ${PLANTED}` } },
  },
  'DELETE /v1/customer/broadcast/destinations/{id}': {
    action: 'broadcast_destination.delete',
    of: 'destination',
  },
  'POST /v1/customer/broadcast/destinations/{id}/test': {
    action: 'broadcast_destination.test',
    of: 'destination',
  },
  'POST /v1/customer/webhook-secret/rotate': { action: 'webhook_secret.rotate' },
  'POST /v1/admin/keys': makes('admin-key', 'admin_key.create'),
  'DELETE /v1/admin/keys/{id}': { action: 'admin_key.revoke', of: 'admin-key' },
};

interface Row {
  id: number;
  request_id: string | null;
  tenant_id: string | null;
  action: string;
  actor_kind: string;
  target_id: string;
  before: object | null;
  after: object | null;
}

interface Answer {
  status: number;
  requestId: string | null;
  text: string;
}

let gateway: BootedGateway;
let documented: string[];

beforeAll(async () => {
  gateway = await bootGateway({ GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'true' });
  const document = (await (await fetch(`${gateway.url}/docs-json`)).json()) as ApiDescription;
  documented = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((method) => method !== 'get' && /^\/v1\/(customer|admin)\//.test(path))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
});
afterAll(() => gateway.close());

async function send(operation: string, id: string, body: object | undefined): Promise<Answer> {
  const [method = '', path = ''] = operation.replace(/\{\w+\}/, id).split(' ');
  const isAdmin = path.startsWith('/v1/admin/');
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      authorization: `Bearer ${isAdmin ? gateway.adminKey : gateway.managementKey}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, requestId: response.headers.get('x-request-id'), text };
}

async function make(thing: Thing): Promise<string> {
  const [path, body] = THINGS[thing];
  const { status, text } = await send(`POST ${path}`, '', body);
  expect(status).toBe(201);
  return (JSON.parse(text) as { id: string }).id;
}

async function rows(): Promise<Row[]> {
  return (await gateway.database.query<Row>('SELECT * FROM audit_log ORDER BY id')).rows;
}

describe('the audit log', () => {
  it('knows every operation that may change something', () => {
    expect(documented.sort()).toEqual(Object.keys(RULES).sort());
  });

  describe.each(Object.entries(RULES))('of %s', (operation, { action, of: thing, body }) => {
    it('has one row, with its request and without secrets', async () => {
      const id = thing ? await make(thing) : '';
      const before = await rows();
      const { status, requestId, text } = await send(operation, id, body);
      expect([200, 201]).toContain(status);
      const [row, ...more] = (await rows()).slice(before.length);
      expect(more).toEqual([]);
      const isAdmin = operation.includes(' /v1/admin/');
      expect(row).toMatchObject({
        action,
        request_id: requestId,
        actor_kind: isAdmin ? 'admin_key' : 'api_key',
        tenant_id: isAdmin ? null : gateway.tenantId,
        ...(thing && { target_id: id }),
      });
      const secrets = [PLANTED, ...(text.match(/\b(sk|whsec)[-_][\w-]{20,}/g) ?? [])];
      for (const secret of secrets) expect(JSON.stringify(row)).not.toContain(secret);
    });

    it('has none where it is refused', async () => {
      const before = await rows();
      const call = operation.includes('{')
        ? await send(operation, randomUUID(), body)
        : await send(operation, '', body ? { ...body, unknown_field: PLANTED } : undefined);
      // The one that takes neither an id nor a body cannot fail.
      if (operation.includes('{') || body) {
        expect(call.status).toBe(operation.includes('{') ? 404 : 400);
        expect(await rows()).toEqual(before);
      }
    });
  });

  it('has none of a change that changes nothing', async () => {
    const key = await make('api-key');
    await send('DELETE /v1/customer/api-keys/{id}', key, undefined);
    const guardrail = await make('guardrail');
    const before = await rows();
    for (const [operation, id, body] of [
      ['DELETE /v1/customer/api-keys/{id}', key],
      ['PATCH /v1/customer/api-keys/{id}', key, {}],
      ['PATCH /v1/customer/api-keys/{id}', key, { name: 'made' }],
      ['PUT /v1/customer/guardrails/{id}', guardrail, { name: 'made', is_enabled: true }],
    ] as const) {
      expect(await send(operation, id, body)).toMatchObject({ status: 200 });
    }
    expect(await rows()).toEqual(before);
  });

  it('tells of long changes by their digests', async () => {
    const id = await make('guardrail');
    const words = Array.from({ length: 1_000 }, (_, index) => `word-${'x'.repeat(50)}-${index}`);
    await send('PUT /v1/customer/guardrails/{id}', id, { rules: [{ type: 'keyword', words }] });
    const row = (await rows()).at(-1);
    expect(row?.after).toMatchObject({
      name: 'made',
      rules: {
        omitted_length: expect.any(Number),
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
    expect(JSON.stringify(row).length).toBeLessThan(2_000);
  });

  it('tells of two changes at once one after the other', async () => {
    const id = await make('api-key');
    const names = Array.from({ length: 8 }, (_, index) => `name-${index}`);
    await Promise.all(names.map((name) => send('PATCH /v1/customer/api-keys/{id}', id, { name })));
    const changes = (await rows()).filter(
      (row) => row.target_id === id && row.action === 'api_key.update',
    );
    expect(changes).toHaveLength(names.length);
    let name: unknown = 'made';
    for (const { before, after } of changes) {
      expect(before).toMatchObject({ name });
      name = after && 'name' in after ? after.name : undefined;
    }
  });
});
