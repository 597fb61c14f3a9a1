import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { hash, randomBytes, randomUUID } from 'node:crypto';
import { withAliases, type ApiDescription } from '../support/api-description.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { nextAddress } from '../support/customer-gateways.js';

const CALLERS = [
  'nobody',
  'routing key',
  'management key',
  'admin key',
  'auditor key',
  'owner',
  'developer',
  'viewer',
  'billing',
  'owner elsewhere',
  'member of nothing',
  'session of a management key',
  'admin',
  'auditor',
  'session of an admin key',
  'admin for the tenant',
  'auditor for the tenant',
  'ended session',
] as const;
type CallerName = (typeof CALLERS)[number];

const TENANT_KEYS = ['routing key', 'management key'] as const;
const MANAGEMENT = ['management key', 'session of a management key'] as const;
const ADMINS = ['admin key', 'admin', 'session of an admin key', 'admin for the tenant'] as const;
/** Operators acting for the tenant. */
const GUESTS = ['admin for the tenant', 'auditor for the tenant'] as const;
const LOGGED_IN = CALLERS.slice(CALLERS.indexOf('owner')).filter(
  (each) => each !== 'ended session',
);

/** Callers that have access; all others are refused. */
const MAY = {
  everybody: CALLERS,
  call: ['routing key'],
  keys: TENANT_KEYS,
  browse: [...TENANT_KEYS, ...MANAGEMENT, 'owner', 'developer', 'viewer', 'billing', ...GUESTS],
  money: [...TENANT_KEYS, ...MANAGEMENT, 'owner', 'developer', 'viewer', 'billing', ...GUESTS],
  'money without routing keys': [
    ...MANAGEMENT,
    'owner',
    'developer',
    'viewer',
    'billing',
    ...GUESTS,
  ],
  read: [...TENANT_KEYS, ...MANAGEMENT, 'owner', 'developer', 'viewer', ...GUESTS],
  'read without routing keys': [...MANAGEMENT, 'owner', 'developer', 'viewer', ...GUESTS],
  develop: [...TENANT_KEYS, ...MANAGEMENT, 'owner', 'developer', 'admin for the tenant'],
  'develop without routing keys': [...MANAGEMENT, 'owner', 'developer', 'admin for the tenant'],
  own: [...TENANT_KEYS, ...MANAGEMENT, 'owner', 'admin for the tenant'],
  'own without routing keys': [...MANAGEMENT, 'owner', 'admin for the tenant'],
  content: [...MANAGEMENT, 'owner'],
  audit: [...ADMINS, 'auditor key', 'auditor', 'auditor for the tenant'],
  operate: ADMINS,
  'be logged in': LOGGED_IN,
} satisfies Record<string, readonly CallerName[]>;
type Access = keyof typeof MAY;

/** Access of a tenant's people and keys to its account. */
const CUSTOMER: Record<string, Access> = {
  'GET /v1/customer/api-keys': 'read',
  'POST /v1/customer/api-keys': 'develop',
  'GET /v1/customer/api-keys/{id}': 'read',
  'PATCH /v1/customer/api-keys/{id}': 'develop',
  'DELETE /v1/customer/api-keys/{id}': 'develop',
  'GET /v1/customer/guardrails': 'read',
  'POST /v1/customer/guardrails': 'develop',
  'POST /v1/customer/guardrails/test': 'develop',
  'GET /v1/customer/guardrails/{id}': 'read',
  'PUT /v1/customer/guardrails/{id}': 'develop',
  'DELETE /v1/customer/guardrails/{id}': 'develop',
  'GET /v1/customer/provider-credentials': 'read',
  'GET /v1/customer/provider-credentials/providers': 'read',
  'POST /v1/customer/provider-credentials': 'own',
  'POST /v1/customer/provider-credentials/test': 'own',
  'POST /v1/customer/provider-credentials/{id}/test': 'own',
  'PATCH /v1/customer/provider-credentials/{id}': 'own',
  'DELETE /v1/customer/provider-credentials/{id}': 'own',
  'GET /v1/customer/broadcast/destinations': 'read',
  'POST /v1/customer/broadcast/destinations': 'develop',
  'GET /v1/customer/broadcast/destinations/{id}': 'read',
  'PUT /v1/customer/broadcast/destinations/{id}': 'develop',
  'DELETE /v1/customer/broadcast/destinations/{id}': 'develop',
  'POST /v1/customer/broadcast/destinations/{id}/test': 'develop',
  'GET /v1/customer/alerts': 'read',
  'POST /v1/customer/alerts': 'develop',
  'GET /v1/customer/alerts/{id}': 'read',
  'PATCH /v1/customer/alerts/{id}': 'develop',
  'DELETE /v1/customer/alerts/{id}': 'develop',
  'POST /v1/customer/alerts/{id}/test': 'develop',
  'GET /v1/customer/alert-events': 'read',
  'GET /v1/customer/webhook-deliveries': 'read',
  'GET /v1/customer/webhook-secret': 'develop without routing keys',
  'POST /v1/customer/webhook-secret/rotate': 'develop without routing keys',
  'GET /v1/customer/settings': 'read',
  'PATCH /v1/customer/settings': 'develop without routing keys',
  'GET /v1/customer/limits': 'money',
  'PUT /v1/customer/limits': 'own without routing keys',
  'GET /v1/customer/end-users': 'money',
  'GET /v1/customer/end-users/default-limits': 'money',
  'PUT /v1/customer/end-users/default-limits': 'develop without routing keys',
  'GET /v1/customer/end-users/{end_user}/limits': 'money',
  'PUT /v1/customer/end-users/{end_user}/limits': 'develop without routing keys',
  'DELETE /v1/customer/end-users/{end_user}/limits': 'develop without routing keys',
  'GET /v1/customer/logs': 'read',
  'GET /v1/customer/logs/export.csv': 'read',
  'GET /v1/customer/logs/newer': 'read',
  'GET /v1/customer/logs/facets': 'read',
  'GET /v1/customer/logs/{request_id}': 'read',
  'GET /v1/customer/jobs': 'read',
  'GET /v1/customer/jobs/gallery': 'read',
  'GET /v1/customer/jobs/{id}': 'read',
  'DELETE /v1/customer/jobs/{id}': 'develop',
  'GET /v1/customer/analytics': 'money',
  'GET /v1/customer/statements': 'money',
  'GET /v1/customer/statements/{month}': 'money',
  'GET /v1/customer/ledger-entries': 'money',
  'GET /v1/customer/ledger-entries/export.csv': 'money',
  'GET /v1/customer/credits': 'money',
  'GET /v1/customer/credits/history': 'money',
  'GET /v1/customer/receipts/{request_id}': 'money',
  'GET /v1/customer/audit-log': 'read',
  'GET /v1/customer/audit-log/export.csv': 'read',
  'GET /v1/customer/audit-log/export.jsonl': 'read',
  'GET /v1/customer/content-log': 'content',
  'PATCH /v1/customer/content-log': 'content',
  'DELETE /v1/customer/content-log': 'content',
  'GET /v1/customer/logs/{request_id}/content': 'content',
  'DELETE /v1/customer/logs/{request_id}/content': 'content',
  'GET /v1/customer/guardrail-events': 'read',
  'GET /v1/customer/guardrail-events/series': 'read',
  'GET /v1/customer/members': 'read without routing keys',
  'PATCH /v1/customer/members/{id}': 'own without routing keys',
  'DELETE /v1/customer/members/{id}': 'own without routing keys',
  'GET /v1/customer/invitations': 'own without routing keys',
  'POST /v1/customer/invitations': 'own without routing keys',
  'DELETE /v1/customer/invitations/{id}': 'own without routing keys',
  'GET /v1/generation': 'read',
  'GET /api/v1/generation': 'read',
  'GET /api/v1/credits': 'money without routing keys',
  'GET /api/v1/key': 'keys',
  'GET /v1/auth': 'everybody',
  'GET /v1/auth/login': 'everybody',
  'GET /v1/auth/session': 'be logged in',
  'GET /v1/auth/sessions': 'be logged in',
  'DELETE /v1/auth/sessions/{id}': 'be logged in',
};

/** Tested in people.e2e-spec.ts: they need more than a role, or end the session that calls them. */
const ELSEWHERE = new Set([
  'GET /v1/auth/callback',
  'POST /v1/auth/key',
  'POST /v1/auth/link',
  'POST /v1/auth/logout',
  'DELETE /v1/auth/sessions',
]);

/** Access to groups of operations, by tag and path. */
function accessTo(operation: string, tags: readonly string[]): Access | undefined {
  const [method = '', path = ''] = operation.split(' ');
  if (CUSTOMER[operation]) return CUSTOMER[operation];
  if (path.startsWith('/v1/admin/')) return method === 'GET' ? 'audit' : 'operate';
  if (path.startsWith('/v1/customer/') || path.startsWith('/v1/auth')) return undefined;
  if (tags.includes('Operations') || tags.includes('Artifacts')) return 'everybody';
  if (tags.includes('Catalogue')) return 'browse';
  return tags.includes('Inference') || tags.includes('Jobs') ? 'call' : undefined;
}

interface Operation {
  tags?: string[];
}

let gateway: BootedGateway;
const operations = new Map<string, readonly string[]>();
const headersOf = new Map<CallerName, Record<string, string>>();

beforeAll(async () => {
  gateway = await bootGateway({ GATEWAY_TRUSTED_PROXIES: '127.0.0.0/8, ::1' });
  const { tenantId, database } = gateway;
  const documented = await (await fetch(`${gateway.url}/docs-json`)).json();
  for (const [path, methods] of Object.entries(
    withAliases(documented as ApiDescription<Operation>),
  )) {
    for (const [method, { tags = [] }] of Object.entries(methods)) {
      operations.set(`${method.toUpperCase()} ${path}`, tags);
    }
  }
  const insert = async (sql: string, ...values: unknown[]): Promise<string> =>
    (await database.query<{ id: string }>(`${sql} RETURNING id`, values)).rows[0]!.id;
  const idOfKey = async (table: string, key: string): Promise<string> => {
    const { rows } = await database.query<{ id: string }>(
      `SELECT id FROM ${table} WHERE key_hash = sha256($1::bytea)`,
      [Buffer.from(key)],
    );
    return rows[0]!.id;
  };
  const openSession = async (column: string, ownerId: string): Promise<Record<string, string>> => {
    const token = randomBytes(32).toString('base64url');
    await insert(
      `INSERT INTO sessions (token_hash, ${column}, expires_at)
       VALUES (decode($1, 'hex'), $2, now() + interval '1 hour')`,
      hash('sha256', token, 'hex'),
      ownerId,
    );
    const cookie = `gateway_session=${token}`;
    const session = await fetch(`${gateway.url}/v1/auth/session`, { headers: { cookie } });
    const { csrf_token: csrfToken } = (await session.json()) as { csrf_token: string };
    return { cookie, 'x-csrf-token': csrfToken, 'sec-fetch-site': 'same-origin' };
  };
  const makePerson = (operatorRole: string | null): Promise<string> =>
    insert(
      `INSERT INTO people (issuer, subject, name, operator_role) VALUES ('i', $1, 'Ada', $2)`,
      randomUUID(),
      operatorRole,
    );
  const join = (personId: string, tenant: string, role: string): Promise<unknown> =>
    database.query(`INSERT INTO memberships (person_id, tenant_id, role) VALUES ($1, $2, $3)`, [
      personId,
      tenant,
      role,
    ]);
  const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

  headersOf.set('nobody', {});
  headersOf.set('routing key', bearer(gateway.apiKey));
  headersOf.set('management key', bearer(gateway.managementKey));
  headersOf.set('admin key', bearer(gateway.adminKey));
  const auditor = { name: 'auditor', role: 'auditor' };
  const made = await gateway.admin('POST', '/v1/admin/keys', auditor);
  headersOf.set('auditor key', bearer(((await made.json()) as { key: string }).key));
  for (const role of ['owner', 'developer', 'viewer', 'billing'] as const) {
    const person = await makePerson(null);
    await join(person, tenantId, role);
    headersOf.set(role, await openSession('person_id', person));
  }
  const elsewhere = await makePerson(null);
  await join(elsewhere, await insert(`INSERT INTO tenants (name) VALUES ('elsewhere')`), 'owner');
  headersOf.set('owner elsewhere', {
    ...(await openSession('person_id', elsewhere)),
    'x-gateway-tenant': tenantId,
  });
  headersOf.set('member of nothing', await openSession('person_id', await makePerson(null)));
  for (const role of ['admin', 'auditor'] as const) {
    const session = await openSession('person_id', await makePerson(role));
    headersOf.set(role, session);
    headersOf.set(`${role} for the tenant`, { ...session, 'x-gateway-tenant': tenantId });
  }
  headersOf.set(
    'session of a management key',
    await openSession('api_key_id', await idOfKey('api_keys', gateway.managementKey)),
  );
  headersOf.set(
    'session of an admin key',
    await openSession('admin_key_id', await idOfKey('admin_keys', gateway.adminKey)),
  );
  const ended = await openSession('person_id', elsewhere);
  await database.query(`UPDATE sessions SET revoked_at = now() WHERE token_hash = sha256($1)`, [
    Buffer.from(ended.cookie!.split('=')[1]!),
  ]);
  headersOf.set('ended session', ended);
});
afterAll(() => gateway.close());

const agent = new Agent({ keepAlive: true, maxSockets: 8 });
afterAll(() => agent.destroy());

/**
 * Calls the operation on unknown ids and without a body: access is checked first, and nothing is changed.
 * There are thousands of calls, and `fetch` would take twice as long.
 */
async function statusOf(operation: string, caller: CallerName): Promise<number | undefined> {
  const [method, template = ''] = operation.split(' ');
  const path = template.replace('{month}', '2026-01').replace(/\{\w+\}/g, randomUUID());
  const headers = { 'x-forwarded-for': nextAddress(), ...headersOf.get(caller) };
  const call = request(gateway.url + path, { method, agent, headers }).end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

/** 401 asks for other credentials; 403 rejects valid ones. */
function refusalOf(access: Access, caller: CallerName): number {
  const isSession = headersOf.get(caller)?.cookie !== undefined;
  if (caller === 'nobody' || caller === 'ended session') return 401;
  if (access === 'be logged in') return 401;
  // Model calls ignore cookies, and tenants' paths do not know admin keys.
  if (isSession) return access === 'call' ? 401 : 403;
  const isAdminKey = caller === 'admin key' || caller === 'auditor key';
  return isAdminKey && access !== 'operate' && access !== 'audit' ? 401 : 403;
}

describe('access over HTTP', () => {
  it('is defined here for every operation, and for no unknown ones', () => {
    const all = [...operations.keys()];
    const unsaid = [...operations]
      .filter(([operation, tags]) => !ELSEWHERE.has(operation) && !accessTo(operation, tags))
      .map(([operation]) => operation);
    expect(unsaid).toEqual([]);
    expect(all.length).toBeGreaterThan(100);
    expect([...Object.keys(CUSTOMER), ...ELSEWHERE].filter((each) => !all.includes(each))).toEqual(
      [],
    );
  });

  it.each(CALLERS)('is as defined for %s', async (caller) => {
    const wrong: string[] = [];
    let refused = 0;
    const ask = async ([operation, tags]: [string, readonly string[]]): Promise<void> => {
      const access = accessTo(operation, tags);
      if (access === undefined || ELSEWHERE.has(operation)) return;
      const status = await statusOf(operation, caller);
      const callers: readonly CallerName[] = MAY[access];
      if (callers.includes(caller)) {
        if (status === 401 || status === 403) wrong.push(`${operation} is refused: ${status}`);
        return;
      }
      refused++;
      const expected = refusalOf(access, caller);
      if (status !== expected) wrong.push(`${operation}: ${status}, not ${expected}`);
    };
    await Promise.all([...operations].map(ask));
    expect(wrong).toEqual([]);
    expect(refused).toBeGreaterThan(10);
  });
});
