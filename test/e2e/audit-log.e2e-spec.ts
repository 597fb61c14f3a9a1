import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ApiDescription } from '../support/api-description.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';

/** Placed wherever a body may contain a secret; must not be in any row. */
const PLANTED = 'planted-0123456789-secret';

const ALERT = {
  name: 'made',
  kind: 'balance_below',
  condition: { credits: 1 },
  url: `http://127.0.0.1:9/${PLANTED}/hook`,
};

/** Resources that paths name, and how they are created. */
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
  tenant: ['/v1/admin/tenants', {}],
  'tenant-key': ['/v1/admin/tenants/{tenant_id}/api-keys', { name: 'made' }],
  alert: ['/v1/customer/alerts', ALERT],
  'operators-alert': ['/v1/admin/alerts', ALERT],
} as const satisfies Record<string, readonly [string, object]>;

type Thing = keyof typeof THINGS;

const PROVIDER = {
  provider: { name: 'Made', base_url: 'http://127.0.0.1:9/v1', api_key: PLANTED },
};
const ROUTE = { provider: 'sandbox', model: 'sandbox/words' };
const UUID: unknown = expect.stringMatching(/^[\da-f-]{36}$/);

interface Rule {
  /** The row's action; null for operations that change nothing and leave no row. */
  action: string | null;
  /** The resource of the path's last id. */
  of?: Thing;
  body?: object;
  /** Set if the row is about a created resource rather than the one in the path. */
  makesNew?: true;
  /** The path's last id, if no request needs to create it. */
  id?: string;
  /** An operation to call first, and its body. */
  first?: readonly [operation: string, body: object];
  /** SQL that prepares the resource; $1 is the id. */
  prepare?: string;
}

/** A logged-in person with this id who is a developer of every tenant. */
const PERSON = `WITH person AS (
    INSERT INTO people (id, issuer, subject, name) VALUES ($1::uuid, 'i', $1::uuid::text, 'Ada')
  ), session AS (
    INSERT INTO sessions (token_hash, person_id, expires_at)
    VALUES ($1::uuid::text::bytea, $1::uuid, now() + interval '1 day')
  ) INSERT INTO memberships (person_id, tenant_id, role) SELECT $1::uuid, id, 'developer' FROM tenants`;
const invitation = (tenant: string, role: string): string =>
  `INSERT INTO invitations (id, email, tenant_id, role, invited_by, expires_at)
   VALUES ($1::uuid, $1::uuid::text, ${tenant}, '${role}', 'a test', now() + interval '1 day')`;
const ofSomebody = (action: string, body?: object): Rule => ({
  action,
  id: randomUUID(),
  prepare: PERSON,
  body,
});

const creates = (thing: Thing, action: string): Rule => ({ action, body: THINGS[thing][1] });

/** The id of a job that no worker processes. */
const JOB = `vid_${'0'.repeat(36)}`;

/** Every operation that changes something, with the row it leaves. New operations are added here. */
const RULES: Record<string, Rule> = {
  'POST /v1/customer/api-keys': creates('api-key', 'api_key.create'),
  'PATCH /v1/customer/api-keys/{id}': {
    action: 'api_key.update',
    of: 'api-key',
    body: { name: `sk-${PLANTED}` },
  },
  'DELETE /v1/customer/api-keys/{id}': { action: 'api_key.revoke', of: 'api-key' },
  'POST /v1/customer/guardrails': creates('guardrail', 'guardrail.create'),
  'POST /v1/customer/guardrails/test': { action: null, body: { text: 'Hello' } },
  'PUT /v1/customer/guardrails/{id}': {
    action: 'guardrail.update',
    of: 'guardrail',
    body: { is_enabled: false },
  },
  'DELETE /v1/customer/guardrails/{id}': { action: 'guardrail.delete', of: 'guardrail' },
  'POST /v1/customer/provider-credentials': creates('credential', 'provider_credential.create'),
  'POST /v1/customer/provider-credentials/test': {
    action: null,
    body: { provider: 'openai', key: PLANTED },
  },
  'POST /v1/customer/provider-credentials/{id}/test': { action: null, of: 'credential' },
  'PATCH /v1/customer/provider-credentials/{id}': {
    action: 'provider_credential.update',
    of: 'credential',
    body: { weight: 2 },
  },
  'DELETE /v1/customer/provider-credentials/{id}': {
    action: 'provider_credential.delete',
    of: 'credential',
  },
  'POST /v1/customer/broadcast/destinations': creates(
    'destination',
    'broadcast_destination.create',
  ),
  'PUT /v1/customer/broadcast/destinations/{id}': {
    action: 'broadcast_destination.update',
    of: 'destination',
    // Only the value of a header changes.
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
  'DELETE /v1/customer/jobs/{id}': {
    action: 'job.cancel',
    id: JOB,
    prepare: `INSERT INTO jobs (id, tenant_id, api_key_id, request_id, endpoint, modality, model, body,
        routes, flagged, body_hash, reserved_credits, created_at, deadline_at, expires_at, run_at)
      SELECT $1, id, id, gen_random_uuid(), 'jobs', 'video', 'sandbox/video', '{}',
        '[{"model": "sandbox/video", "provider": "sandbox", "trafficMode": "shared", "pricing": {}}]',
        false, '', 0, now(), now() + interval '1 day', now(), 'infinity'
      FROM tenants WHERE name = 'default'`,
  },
  'POST /v1/customer/webhook-secret/rotate': { action: 'webhook_secret.rotate' },
  'POST /v1/customer/alerts': creates('alert', 'alert.create'),
  'PATCH /v1/customer/alerts/{id}': {
    action: 'alert.update',
    of: 'alert',
    body: { url: `http://127.0.0.1:9/hook?token=${PLANTED}` },
  },
  'DELETE /v1/customer/alerts/{id}': { action: 'alert.delete', of: 'alert' },
  'POST /v1/customer/alerts/{id}/test': { action: 'alert.test', of: 'alert' },
  'POST /v1/admin/webhook-secret/rotate': { action: 'webhook_secret.rotate' },
  'POST /v1/admin/alerts': creates('operators-alert', 'alert.create'),
  'PATCH /v1/admin/alerts/{id}': {
    action: 'alert.update',
    of: 'operators-alert',
    body: { url: `http://127.0.0.1:9/hook?token=${PLANTED}` },
  },
  'DELETE /v1/admin/alerts/{id}': { action: 'alert.delete', of: 'operators-alert' },
  'POST /v1/admin/alerts/{id}/test': { action: 'alert.test', of: 'operators-alert' },
  'PUT /v1/customer/limits': { action: 'tenant.set_limits', body: { max_in_flight: 900 } },
  'PATCH /v1/customer/settings': {
    action: 'tenant_settings.update',
    body: { recovery: 'continue' },
  },
  'PATCH /v1/admin/tenants/{tenant_id}/settings': {
    action: 'tenant_settings.update',
    of: 'tenant',
    body: { recovery: 'any' },
  },
  'PUT /v1/customer/end-users/default-limits': {
    action: 'tenant.set_end_user_limits',
    body: { max_in_flight: 900 },
  },
  'PUT /v1/customer/end-users/{end_user}/limits': {
    action: 'end_user.set_limits',
    id: 'someone',
    body: { max_in_flight: 900 },
  },
  'DELETE /v1/customer/end-users/{end_user}/limits': {
    action: 'end_user.set_limits',
    id: 'somebody',
    first: ['PUT /v1/customer/end-users/{end_user}/limits', { max_in_flight: 900 }],
  },
  'PUT /v1/admin/tenants/{tenant_id}/limits': {
    action: 'tenant.set_limits',
    of: 'tenant',
    body: { max_in_flight: 1_000 },
  },
  'PUT /v1/admin/api-keys/{id}/limits': {
    action: 'api_key.set_limits',
    of: 'api-key',
    body: { requests_per_minute: 50 },
  },
  'PATCH /v1/customer/content-log': { action: 'content_log.update', body: { enabled: false } },
  'DELETE /v1/customer/content-log': { action: 'content.delete_all' },
  'DELETE /v1/customer/logs/{request_id}/content': {
    action: 'content.delete',
    id: randomUUID(),
    prepare: `INSERT INTO request_contents
        (request_id, day, tenant_id, content_key_id, recorded_at, body)
      SELECT $1, current_date, id, id, now(), '' FROM tenants WHERE name = 'default'`,
  },
  'PATCH /v1/admin/content-log/{id}': {
    action: 'content_log.update',
    of: 'tenant',
    body: { enabled: false },
  },
  'DELETE /v1/admin/content-log/{id}': { action: 'content.delete_all', of: 'tenant' },
  'POST /v1/admin/keys': creates('admin-key', 'admin_key.create'),
  'DELETE /v1/admin/keys/{id}': { action: 'admin_key.revoke', of: 'admin-key' },
  'POST /v1/admin/tenants': { action: 'tenant.create', body: { name: 'made by this' } },
  'PATCH /v1/admin/tenants/{tenant_id}': {
    action: 'tenant.update',
    of: 'tenant',
    body: { status: 'suspended' },
  },
  'DELETE /v1/admin/tenants/{tenant_id}': {
    action: 'tenant.delete',
    of: 'tenant',
    prepare: "UPDATE tenants SET suspended_at = now() - interval '1 minute' WHERE id = $1",
  },
  'POST /v1/admin/tenants/{tenant_id}/grants': {
    action: 'ledger.grant',
    of: 'tenant',
    body: { credits: 5 },
    makesNew: true,
  },
  'POST /v1/admin/tenants/{tenant_id}/corrections': {
    action: 'ledger.correct',
    of: 'tenant',
    body: { credits: 5, memo: 'put right' },
    makesNew: true,
  },
  'POST /v1/admin/tenants/{tenant_id}/api-keys': {
    action: 'api_key.create',
    of: 'tenant',
    body: { name: 'made' },
    makesNew: true,
  },
  'PATCH /v1/admin/tenants/{tenant_id}/api-keys/{key_id}': {
    action: 'api_key.update',
    of: 'tenant-key',
    body: { rate_limit_per_minute: 5 },
  },
  'DELETE /v1/admin/tenants/{tenant_id}/api-keys/{key_id}': {
    action: 'api_key.revoke',
    of: 'tenant-key',
  },
  'PATCH /v1/customer/members/{id}': ofSomebody('membership.update', { role: 'viewer' }),
  'DELETE /v1/customer/members/{id}': ofSomebody('membership.delete'),
  'POST /v1/customer/invitations': {
    action: 'invitation.create',
    body: { email: 'ada@acme.example', role: 'viewer' },
  },
  'DELETE /v1/customer/invitations/{id}': {
    action: 'invitation.delete',
    id: randomUUID(),
    prepare: invitation(`(SELECT id FROM tenants WHERE name = 'default')`, 'viewer'),
  },
  'POST /v1/admin/tenants/{tenant_id}/members': {
    action: 'invitation.create',
    of: 'tenant',
    body: { email: 'ada@acme.example', role: 'owner' },
    makesNew: true,
  },
  'PATCH /v1/admin/tenants/{tenant_id}/members/{person_id}': ofSomebody('membership.update', {
    role: 'owner',
  }),
  'DELETE /v1/admin/tenants/{tenant_id}/members/{person_id}': ofSomebody('membership.delete'),
  'POST /v1/admin/people/invitations': {
    action: 'invitation.create',
    body: { email: 'ada@acme.example', role: 'auditor' },
  },
  'DELETE /v1/admin/people/invitations/{id}': {
    action: 'invitation.delete',
    id: randomUUID(),
    prepare: invitation('NULL', 'admin'),
  },
  'PATCH /v1/admin/people/{id}': ofSomebody('person.update', { is_disabled: true }),
  'DELETE /v1/admin/people/{id}/sessions': ofSomebody('person.end_sessions'),
  'POST /v1/admin/routes/pause': {
    action: 'route.pause',
    body: { ...ROUTE, reason: `the key sk-${PLANTED} is out` },
  },
  'POST /v1/admin/routes/resume': {
    action: 'route.resume',
    first: ['POST /v1/admin/routes/pause', { ...ROUTE, reason: 'maintenance' }],
    body: ROUTE,
  },
  'POST /v1/admin/config/versions': {
    action: 'config.apply',
    body: { document: { settings: { LOG_LEVEL: 'warn' } } },
  },
  'POST /v1/admin/config/rollback': {
    action: 'config.rollback',
    first: [
      'POST /v1/admin/config/versions',
      { document: { settings: { GATEWAY_COOLDOWN_MS: 9_999 } } },
    ],
    body: { version: 1 },
  },
  'PUT /v1/admin/config/models/{id}': {
    action: 'config.model',
    id: 'sandbox/echo',
    body: { row: { pricing: { request: '0.003' } } },
    makesNew: true,
  },
  'PUT /v1/admin/config/providers/{id}': {
    action: 'config.provider',
    id: 'made',
    body: PROVIDER,
    makesNew: true,
  },
  'POST /v1/admin/config/providers/{id}/test': { action: null, id: 'sandbox', body: {} },
  'DELETE /v1/admin/config/providers/{id}': {
    action: 'config.provider',
    id: 'gone',
    first: ['PUT /v1/admin/config/providers/{id}', PROVIDER],
    makesNew: true,
  },
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
/** The tenant of resources that operators change. */
let tenantId: string;

beforeAll(async () => {
  gateway = await bootGateway({ GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'true' });
  const document = (await (await fetch(`${gateway.url}/docs-json`)).json()) as ApiDescription;
  tenantId = await make('tenant');
  documented = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((method) => method !== 'get' && /^\/v1\/(customer|admin)\//.test(path))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
});
afterAll(() => gateway.close());

/** @param id the last id in the path */
async function send(operation: string, id: string, body: object | undefined): Promise<Answer> {
  const [method = '', path = ''] = operation
    .replace(/\{\w+\}(?!.*\{)/, id)
    .replace('{tenant_id}', tenantId)
    .split(' ');
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
  const [path, given] = THINGS[thing];
  const body = thing === 'tenant' ? { name: `made ${randomUUID()}` } : given;
  const { status, text } = await send(`POST ${path}`, tenantId, body);
  expect(status).toBe(201);
  return (JSON.parse(text) as { id: string }).id;
}

/** The tenant in the row of an operation under `/v1/admin`; the path's last id may be a key's. */
function ownerOf(operation: string, answer: string): unknown {
  if (operation.includes('/api-keys/{id}')) return gateway.tenantId;
  if (operation.includes('/content-log')) return UUID;
  if (!operation.includes('/tenants')) return null;
  if (operation.includes('{key_id}')) return tenantId;
  return operation.endsWith('/tenants') ? (JSON.parse(answer) as { id: string }).id : UUID;
}

async function rows(): Promise<Row[]> {
  return (await gateway.database.query<Row>('SELECT * FROM audit_log ORDER BY id')).rows;
}

describe('the audit log', () => {
  it('covers every operation that may change something', () => {
    expect(documented.sort()).toEqual(Object.keys(RULES).sort());
  });

  describe.each(Object.entries(RULES))('of %s', (operation, rule) => {
    const { action, of: thing, body, makesNew, prepare, first } = rule;
    it(`has ${action === null ? 'no row' : 'one row, with its request and without secrets'}`, async () => {
      const id = thing ? await make(thing) : (rule.id ?? '');
      if (first) expect(await send(first[0], id, first[1])).toMatchObject({ status: 200 });
      if (prepare) await gateway.database.query(prepare, [id]);
      const before = await rows();
      const { status, requestId, text } = await send(operation, id, body);
      expect([200, 201, 204]).toContain(status);
      const [row, ...more] = (await rows()).slice(before.length);
      expect(more).toEqual([]);
      if (action === null) return expect(row).toBeUndefined();
      const isAdmin = operation.includes(' /v1/admin/');
      expect(row).toMatchObject({
        action,
        request_id: requestId,
        actor_kind: isAdmin ? 'admin_key' : 'api_key',
        tenant_id: isAdmin ? ownerOf(operation, text) : gateway.tenantId,
        ...(thing && { target_id: makesNew ? expect.any(String) : id }),
      });
      const secrets = [PLANTED, ...(text.match(/\b(sk|whsec)[-_][\w-]{20,}/g) ?? [])];
      for (const secret of secrets) expect(JSON.stringify(row)).not.toContain(secret);
    });

    it('has none when the operation is refused', async () => {
      const before = await rows();
      const isOfBody = body !== undefined && !thing;
      // An operation with neither id nor body cannot fail.
      if (!isOfBody && !operation.includes('{')) return;
      const call = isOfBody
        ? await send(operation, rule.id ?? '', { ...body, unknown_field: PLANTED })
        : await send(operation, randomUUID(), body);
      expect(call.status).toBe(isOfBody ? 400 : 404);
      expect(await rows()).toEqual(before);
    });
  });

  it('has no row for a change without effect', async () => {
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

  it('stores digests of long changes', async () => {
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

  it('records concurrent changes in sequence', async () => {
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

interface Listed {
  id: string;
  created_at: string;
  actor: { kind: string; id: string | null; name: string };
  tenant_id: string | null;
  action: string;
  target: { type: string; id: string };
}
interface ListPage {
  data: Listed[];
  has_more: boolean;
  next_cursor: string | null;
}

describe.each([
  ['a tenant', '/v1/customer/audit-log'],
  ['an operator', '/v1/admin/audit-log'],
])('the audit log as read by %s', (_, path) => {
  const isAdmin = path.startsWith('/v1/admin/');
  const read = (query = '', suffix = ''): Promise<Response> => {
    const key = isAdmin ? gateway.adminKey : gateway.apiKey;
    return fetch(`${gateway.url}${path}${suffix}?${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
  };
  const list = async (query = ''): Promise<Listed[]> => {
    const response = await read(query);
    expect(response.status).toBe(200);
    return ((await response.json()) as ListPage).data;
  };
  let strangerId: string;

  beforeAll(async () => {
    await make('api-key');
    const key = await make('guardrail');
    await send('PUT /v1/customer/guardrails/{id}', key, { name: '=cmd "x"\u0000,' });
    await make('admin-key');
    strangerId = randomUUID();
    // More rows than an export reads at once, many with the same timestamp.
    await gateway.database.query(
      `INSERT INTO audit_log (actor_kind, actor_name, tenant_id, action, target_type, target_id, created_at)
       SELECT 'service', 'test', owner::uuid, 'thing.make', 'thing', number, $3::timestamptz
         FROM generate_series(1, 250) AS number, unnest($1::text[]) AS owner
        WHERE owner = $2 OR number <= 2`,
      [[gateway.tenantId, strangerId], gateway.tenantId, '2020-02-03T04:05:06.789Z'],
    );
  });

  it('shows the newest first, and only visible rows of others', async () => {
    const all = await list('limit=200');
    const times = all.map(({ created_at: time, id }) => `${time} ${id.padStart(20)}`);
    expect(times).toEqual([...times].sort().reverse());
    const strangers = await list(`target_type=thing&limit=200&start_date=2020-02-03`);
    expect(strangers.some(({ tenant_id: id }) => id === strangerId)).toBe(isAdmin);
    expect(all.some(({ tenant_id: id }) => id === null)).toBe(isAdmin);
    expect(all.some(({ action }) => action === 'guardrail.update')).toBe(true);
  });

  it('is complete page by page', async () => {
    const found: string[] = [];
    let cursor = '';
    do {
      const query = `limit=90&action=thing.make${cursor}`;
      const page = (await (await read(query)).json()) as ListPage;
      found.push(...page.data.map(({ id }) => id));
      cursor = page.has_more ? `&cursor=${page.next_cursor}` : '';
    } while (cursor !== '');
    const expected = await gateway.database.query<{ id: number }>(
      `SELECT id FROM audit_log WHERE action = 'thing.make' AND ($1 OR tenant_id = $2)
        ORDER BY created_at DESC, id DESC`,
      [isAdmin, gateway.tenantId],
    );
    expect(found).toEqual(expected.rows.map(({ id }) => String(id)));
  });

  it('is filtered by actor, action, target and time', async () => {
    const [made] = await list('action=api_key.create&actor_kind=api_key&limit=1');
    const same = [
      `actor_id=${made!.actor.id}&target_id=${made!.target.id}`,
      `target_type=api_key&target_id=${made!.target.id}&start_date=${made!.created_at}`,
      `target_id=${made!.target.id}&end_date=${made!.created_at}`,
    ];
    for (const query of same) expect(await list(query)).toEqual([made]);
    const none = ['action=none', 'actor_kind=person', 'target_id=%00', 'end_date=2019-01-01'];
    for (const query of none) expect(await list(query)).toEqual([]);
    expect(await list('start_date=2020-02-03&end_date=2020-02-03&limit=3')).toHaveLength(3);
    if (!isAdmin) return;
    const ofOne = await list(`tenant_id=${strangerId}`);
    expect(ofOne.map(({ tenant_id: id }) => id)).toEqual([strangerId, strangerId]);
  });

  it.each([
    ['actor_kind=nobody', 'actor_kind'],
    ['action=', 'action'],
    ['request_id=1', 'request_id'],
    ['start_date=soon', 'start_date'],
    ['cursor=x', 'cursor'],
    ['offset=1', 'offset'],
    isAdmin ? ['tenant_id=default', 'tenant_id'] : [`tenant_id=${randomUUID()}`, 'tenant_id'],
  ])('rejects %s', async (query, param) => {
    for (const suffix of ['', ...(query.startsWith('cursor') ? [] : ['/export.csv'])]) {
      const response = await read(query, suffix);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { param } });
    }
  });

  it('is exported completely, as JSON lines and as CSV', async () => {
    const count = (await rows()).filter(
      ({ tenant_id: id }) => isAdmin || id === gateway.tenantId,
    ).length;
    const lines = await read('', '/export.jsonl');
    expect(lines.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const exported = (await lines.text()).trimEnd().split('\n');
    expect(exported).toHaveLength(count);
    expect(exported.slice(0, 5).map((line) => JSON.parse(line) as unknown)).toEqual(
      await list('limit=5'),
    );
    const csv = await (await read('', '/export.csv')).text();
    const [header = '', ...records] = csv.trimEnd().split('\r\n');
    expect(header).toMatch(/^id,created_at,actor_kind,.*,request_id$/);
    expect(records).toHaveLength(count);
    const some = await (await read('action=none', '/export.csv')).text();
    expect(some).toBe(`${header}\r\n`);
    expect(await (await read('action=none', '/export.jsonl')).text()).toBe('');
  });
});

it("a spreadsheet finds no formulas in the audit log's CSV", async () => {
  const made = await gateway.admin('POST', '/v1/admin/keys', { name: '=1+1', role: 'admin' });
  const { key, id } = (await made.json()) as { key: string; id: string };
  await fetch(`${gateway.url}/v1/admin/keys/${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${key}` },
  });
  const response = await gateway.admin('GET', `/v1/admin/audit-log/export.csv?actor_id=${id}`);
  expect(await response.text()).toContain(",'=1+1,");
});
