import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { withAliases, type ApiDescription } from '../support/api-description.js';
import { openAccessServices, type AccessServices } from '../support/access-services.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';

/** Visible only to the tenant with these requests. */
const SECRET_MODEL = 'sandbox/echo';

let gateway: BootedGateway;
let access: AccessServices;
let revokedKey: string;
let expiredKey: string;
let otherKey: string;
let otherManagementKey: string;
let ownKeyId: string;
let requestId: string;

beforeAll(async () => {
  gateway = await bootGateway();
  access = await openAccessServices(gateway.config.databaseUrl!);
  const { tenantId } = gateway;
  const revoked = await access.makeKey({ tenantId });
  await access.apiKeys.revoke(tenantId, revoked.id);
  revokedKey = revoked.plaintext;
  expiredKey = (await access.makeKey({ tenantId, expiresAt: new Date('2020-01-01') })).plaintext;
  const otherId = await access.makeTenant('other');
  otherKey = (await access.makeKey({ tenantId: otherId })).plaintext;
  otherManagementKey = (await access.makeKey({ tenantId: otherId, type: 'management' })).plaintext;
  const answer = await gateway.post('/v1/chat/completions', {
    model: SECRET_MODEL,
    messages: [{ role: 'user', content: 'one two three' }],
  });
  await answer.text();
  requestId = answer.headers.get('x-request-id')!;
  ownKeyId = (await access.apiKeys.listOfTenant(tenantId)).find(
    ({ requestCount }) => requestCount > 0,
  )!.id;
});
afterAll(async () => {
  await access.close();
  await gateway.close();
});

function get(path: string, key: string | undefined): Promise<Response> {
  return fetch(gateway.url + path, {
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
  });
}

async function refusal(path: string, key: string | undefined) {
  const response = await get(path, key);
  const { error } = (await response.json()) as {
    error: { type: string; code: number; param: string };
  };
  expect(error.code).toBe(response.status);
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  return [response.status, error.type, error.param];
}

/** Every readable path of a tenant; `:key` and `:request` are its own ids. */
const PATHS = [
  '/v1/customer/logs',
  '/v1/customer/logs/export.csv',
  '/v1/customer/analytics',
  '/v1/customer/analytics?group_by=api_key',
  '/v1/customer/statements',
  '/v1/customer/statements/2026-01',
  '/v1/customer/ledger-entries',
  '/v1/customer/ledger-entries/export.csv',
  '/v1/customer/credits',
  '/v1/customer/api-keys',
  '/v1/customer/provider-credentials',
  '/v1/customer/api-keys/:key',
  '/v1/generation?id=:request',
  '/api/v1/generation?id=:request',
  '/api/v1/key',
];

const fill = (path: string) => path.replace(':key', ownKeyId).replace(':request', requestId);
const isOfOneThing = (path: string) => path.includes(':');

describe.each(PATHS)('GET %s', (path) => {
  it("answers the tenant's routing and management keys", async () => {
    for (const key of [gateway.apiKey, gateway.managementKey]) {
      expect((await get(fill(path), key)).status).toBe(200);
    }
  });

  it('answers 401 without a key, and with a revoked, expired or unknown one', async () => {
    for (const key of [undefined, '', revokedKey, expiredKey, 'sk-unknown-key-of-nobody']) {
      expect(await refusal(fill(path), key)).toEqual([
        401,
        'authentication_error',
        'authorization',
      ]);
    }
  });

  it("shows nothing to another tenant's keys", async () => {
    for (const key of [otherKey, otherManagementKey]) {
      const response = await get(fill(path), key);
      const text = await response.text();
      expect(response.status).toBe(isOfOneThing(path) ? 404 : 200);
      for (const secret of [ownKeyId, requestId, SECRET_MODEL]) expect(text).not.toContain(secret);
    }
  });
});

describe('GET /api/v1/credits', () => {
  it('answers management keys only', async () => {
    const path = '/api/v1/credits';
    expect((await get(path, gateway.managementKey)).status).toBe(200);
    expect(await refusal(path, gateway.apiKey)).toEqual([403, 'permission_error', 'authorization']);
    expect(await refusal(path, revokedKey)).toEqual([401, 'authentication_error', 'authorization']);
  });
});

describe('bad input', () => {
  it.each([
    ['/v1/customer/logs?start_date=2026-02-30', 400, 'start_date'],
    ['/v1/customer/logs?__proto__=1', 400, '__proto__'],
    ['/v1/customer/analytics?constructor=1', 400, 'constructor'],
    ['/v1/customer/logs?api_key_id=no-uuid', 404, 'api_key_id'],
    [`/v1/customer/logs?api_key_id=${randomUUID()}`, 404, 'api_key_id'],
    ['/v1/customer/logs/export.csv?start_date=yesterday', 400, 'start_date'],
    ['/v1/customer/logs/export.csv?end_date=2026-13-01', 400, 'end_date'],
    ['/v1/customer/logs/export.csv?status=bad', 400, 'status'],
    ['/v1/customer/logs/export.csv?limit=5', 400, 'limit'],
    ['/v1/customer/analytics?group_by=tenant', 400, 'group_by'],
    ['/v1/customer/analytics?group_by=', 400, 'group_by'],
    ['/v1/customer/analytics?start_date=0', 400, 'start_date'],
    ['/v1/customer/analytics?end_date=2026-02-29', 400, 'end_date'],
    ['/v1/customer/analytics?model=', 400, 'model'],
    ['/v1/customer/ledger-entries?kind=gift', 400, 'kind'],
    ['/v1/customer/ledger-entries?month=2026-13', 400, 'month'],
    ['/v1/customer/ledger-entries?cursor=x', 400, 'cursor'],
    ['/v1/customer/statements/2026-13', 400, 'month'],
    ['/v1/customer/statements/2026-00', 400, 'month'],
    ['/v1/customer/statements/2026-1', 400, 'month'],
    ['/v1/customer/statements/202601', 400, 'month'],
    ['/v1/customer/statements/-026-01', 400, 'month'],
    ['/v1/customer/statements/2026-01-01', 400, 'month'],
    ['/v1/customer/statements/%00', 400, 'month'],
    ['/v1/customer/api-keys/no-uuid', 404, 'id'],
    ['/v1/generation?id=no-uuid', 404, 'id'],
  ] as const)('GET %s is %i, naming %s', async (path, status, param) => {
    const [answered, , named] = await refusal(path, gateway.apiKey);
    expect([answered, named]).toEqual([status, param]);
  });

  it('an offset past the end returns an empty page with the total', async () => {
    const response = await get('/v1/customer/logs?offset=1000000', gateway.apiKey);
    expect(await response.json()).toMatchObject({
      logs: [],
      pagination: { total: 1, offset: 1_000_000, has_more: false },
    });
  });
});

type Description = ApiDescription<{ responses: Record<string, { description: string }> }>;

it('documents every reason for which changes may be rejected', async () => {
  const { paths } = (await (await get('/docs-json', undefined)).json()) as Description;
  const changes = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/customer/'))
    .flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([method]) => method !== 'get')
        .map(([method, { responses }]) => [`${method} ${path}`, responses['403']?.description]),
    );
  expect(changes.length).toBeGreaterThan(8);
  const silent = changes.filter(([, reason]) => !/management key|routing key/.test(reason ?? ''));
  expect(silent).toEqual([]);
});

describe('the compatibility layer', () => {
  it('mirrors every path of /v1 except those about the account', async () => {
    const paths = withAliases((await (await get('/docs-json', undefined)).json()) as Description);
    const own = Object.keys(paths).filter((path) =>
      /^\/v1\/(?!customer\/|admin\/|auth)/.test(path),
    );
    expect(own.length).toBeGreaterThan(8);
    // Artifact URLs are created and signed here, so they need one address only.
    const missing = own.filter((path) => !(`/api${path}` in paths));
    expect(missing).toEqual(['/v1/artifacts/{id}']);
    for (const path of own.filter((path) => !missing.includes(path))) {
      expect(Object.keys(paths[`/api${path}`]!).sort()).toEqual(Object.keys(paths[path]!).sort());
    }
  });

  it.each(['/models', '/providers', '/embeddings/models', '/models/sandbox/echo'])(
    'answers %s like /v1, possibly with more fields',
    async (path) => {
      const [own, mirrored] = await Promise.all(
        ['/v1', '/api/v1'].map(async (base) => {
          const response = await get(base + path, gateway.apiKey);
          return { status: response.status, body: await response.json() };
        }),
      );
      expect(own!.status).toBe(200);
      expect(mirrored).toMatchObject(withoutNulls(own!));
    },
  );

  it('shows the calling key', async () => {
    const made = await access.makeKey({
      tenantId: gateway.tenantId,
      name: 'label',
      rateLimitPerMinute: 7,
    });
    expect(await (await get('/api/v1/key', made.plaintext)).json()).toEqual({
      data: {
        label: 'label',
        usage: 0,
        limit: null,
        limit_remaining: null,
        is_free_tier: false,
        rate_limit: { requests: 7, interval: '1m', note: expect.any(String) },
        ...UNUSED,
      },
    });
  });
});

/** Removes fields that only `/api/v1` fills in; `/v1` has null. */
function withoutNulls(value: object): object {
  return JSON.parse(
    JSON.stringify(value, (_key, member: unknown) => (member === null ? undefined : member)),
  ) as object;
}

/** Further fields of a key without limits, expiry and requests. */
const UNUSED = {
  usage_daily: 0,
  usage_weekly: 0,
  usage_monthly: 0,
  limit_reset: null,
  expires_at: null,
  is_management_key: false,
  is_provisioning_key: false,
  include_byok_in_limit: false,
  byok_usage: 0,
  byok_usage_daily: 0,
  byok_usage_weekly: 0,
  byok_usage_monthly: 0,
  free_model_daily_requests: { limit: 0, used: 0, remaining: 0 },
  allowed_data_regions: [],
  creator_user_id: null,
  organization_id: null,
  workspace_id: null,
};
