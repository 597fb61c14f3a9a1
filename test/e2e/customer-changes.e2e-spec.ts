import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AccessServices, MadeKey } from '../support/access-services.js';
import type { BootedGateway } from '../support/boot-gateway.js';
import {
  bootCustomerGateways,
  refusal,
  type CustomerGateways,
  type JsonAnswer,
} from '../support/customer-gateways.js';
import { until } from '../support/until.js';

const KEYS = '/v1/customer/api-keys';
const GUARDRAILS = '/v1/customer/guardrails';
const DESTINATIONS = '/v1/customer/broadcast/destinations';
const CREDENTIALS = '/v1/customer/provider-credentials';
const ALERTS = '/v1/customer/alerts';
const WEBHOOK_SECRET = '/v1/customer/webhook-secret';

const BODIES: Record<string, object> = {
  [KEYS]: { name: 'a key' },
  [GUARDRAILS]: { name: 'a guardrail', rules: [{ type: 'keyword', words: ['nothing'] }] },
  [DESTINATIONS]: { url: 'http://1.1.1.1/v1/traces', headers: { authorization: 'collector key' } },
  [CREDENTIALS]: { provider: 'openai', key: 'sk-vendor-0123456789abcdef' },
  [ALERTS]: {
    name: 'an alert',
    kind: 'balance_below',
    condition: { credits: 1 },
    url: 'http://1.1.1.1/hook',
  },
};
const CHANGES: Record<string, object> = {
  [KEYS]: { expires_at: '2031-01-01T00:00:00Z' },
  [GUARDRAILS]: { is_enabled: false },
  [DESTINATIONS]: { enabled: false },
  [CREDENTIALS]: { weight: 2 },
  [ALERTS]: { enabled: false },
};
const UNKEYED = refusal(403, 'permission_error', 'authorization');

let gateways: CustomerGateways;
let access: AccessServices;
let gateway: BootedGateway;
let restricted: BootedGateway;
let call: CustomerGateways['call'];
let root: MadeKey;
let child: MadeKey;
let foreignKey: string;

beforeAll(async () => {
  gateways = await bootCustomerGateways();
  ({ access, gateway, restricted, call } = gateways);
  root = await access.makeKey({ tenantId: gateway.tenantId, rateLimitPerMinute: 100_000 });
  child = await makeKey(root.plaintext);
  const foreign = await access.makeTenant('foreign');
  foreignKey = (await access.makeKey({ tenantId: foreign, type: 'management' })).plaintext;
});
afterAll(() => gateways.close());

async function make(path: string, key: string, fields: object = {}): Promise<JsonAnswer['body']> {
  const { status, body } = await call('POST', path, { ...BODIES[path], ...fields }, key);
  expect([path, status]).toEqual([path, 201]);
  return body;
}

async function makeKey(maker: string, fields: object = {}): Promise<MadeKey> {
  const { id, key } = await make(KEYS, maker, fields);
  return { id: String(id), plaintext: String(key) };
}

/** The operations on one resource, as method and path, except GET. */
const changesOf = (path: string, id: string): [string, string, object?][] => [
  ...(path === KEYS || path === ALERTS || path === CREDENTIALS
    ? [['PATCH', `${path}/${id}`, CHANGES[path]] as [string, string, object]]
    : []),
  ...(path === GUARDRAILS || path === DESTINATIONS
    ? [['PUT', `${path}/${id}`, CHANGES[path]] as [string, string, object]]
    : []),
  ['DELETE', `${path}/${id}`],
];

describe.each([KEYS, GUARDRAILS, DESTINATIONS, CREDENTIALS, ALERTS])('%s', (path) => {
  const callers = (): [string, string][] => [
    ['management', gateway.managementKey],
    ['routing', root.plaintext],
    ['child', child.plaintext],
  ];

  it('is read by every key of the tenant and by no other tenant', async () => {
    const made = await make(path, gateway.managementKey);
    for (const [, key] of callers()) {
      const list = await call('GET', path, undefined, key);
      expect(JSON.stringify(list.body)).toContain(made.id);
      if (path === CREDENTIALS) continue;
      expect((await call('GET', `${path}/${String(made.id)}`, undefined, key)).status).toBe(200);
    }
    const list = await call('GET', path, undefined, foreignKey);
    expect(JSON.stringify(list.body)).not.toContain(made.id);
  });

  const isScoped = [DESTINATIONS, CREDENTIALS, ALERTS].includes(path);

  it('rejects changes by routing keys to resources of management keys and, if scoped, of other keys', async () => {
    for (const maker of [gateway.managementKey, root.plaintext, child.plaintext]) {
      const isManagement = maker === gateway.managementKey;
      for (const [name, key] of callers()) {
        const id = String((await make(path, maker)).id);
        for (const [method, url, body] of changesOf(path, id)) {
          expect((await call(method, url, body, foreignKey)).status).toBe(404);
          const answer = await call(method, url, body, key);
          const isAbove = isScoped && maker === root.plaintext && name === 'child';
          if ((isManagement && name !== 'management') || isAbove) {
            expect(answer).toEqual(UNKEYED);
            expect(JSON.stringify(answer.body)).toContain('management key');
          } else {
            expect([name, method, url, answer.status]).toEqual([name, method, url, 200]);
          }
        }
      }
    }
  });

  it('is not created or changed by routing keys if the operator restricts it', async () => {
    const id = String((await make(path, root.plaintext)).id);
    const changes: [string, string, object?][] = [
      ['POST', path, BODIES[path]],
      ...changesOf(path, id),
    ];
    for (const [method, url, body] of changes) {
      for (const key of [root.plaintext, child.plaintext]) {
        expect(await call(method, url, body, key, restricted)).toEqual(UNKEYED);
      }
    }
  });
});

describe(WEBHOOK_SECRET, () => {
  it('is shown to and rotated by management keys only', async () => {
    for (const key of [root.plaintext, child.plaintext]) {
      expect(await call('GET', WEBHOOK_SECRET, undefined, key)).toEqual(UNKEYED);
      expect(await call('POST', `${WEBHOOK_SECRET}/rotate`, undefined, key)).toEqual(UNKEYED);
    }
    const secret = async (key = gateway.managementKey) =>
      (await call('GET', WEBHOOK_SECRET, undefined, key)).body.secret;
    const before = await secret();
    expect((await call('GET', WEBHOOK_SECRET, undefined, '')).status).toBe(401);
    const { headers } = await fetch(gateway.url + WEBHOOK_SECRET, {
      headers: { authorization: `Bearer ${gateway.managementKey}` },
    });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(await secret()).toBe(before);
    const rotated = await call(
      'POST',
      `${WEBHOOK_SECRET}/rotate`,
      undefined,
      gateway.managementKey,
    );
    expect(rotated).toEqual({
      status: 200,
      body: {
        secret: expect.stringMatching(/^whsec_[\w-]{43}$/),
        previous_until: expect.any(String),
      },
    });
    const days = (Date.parse(String(rotated.body.previous_until)) - Date.now()) / 86_400_000;
    expect(days).toBeCloseTo(1, 2);
    expect(await secret()).toBe(rotated.body.secret);
    expect(rotated.body.secret).not.toBe(before);
    expect(await secret(foreignKey)).not.toBe(rotated.body.secret);
  });
});

describe('a key', () => {
  it('may change its own name, but not its expiry', async () => {
    for (const { id, key } of [
      { id: root.id, key: root.plaintext },
      { id: child.id, key: child.plaintext },
    ]) {
      for (const expires_at of [null, '2031-01-01T00:00:00Z']) {
        expect(await call('PATCH', `${KEYS}/${id}`, { name: 'n', expires_at }, key)).toEqual(
          refusal(403, 'permission_error', 'expires_at'),
        );
      }
      expect((await call('PATCH', `${KEYS}/${id}`, { name: 'mine' }, key)).body).toMatchObject({
        name: 'mine',
        expires_at: null,
      });
    }
  });

  it('gives its descendants no more time or credits than it has', async () => {
    const expires_at = '2031-01-01T00:00:00.000Z';
    const maker = await makeKey(gateway.managementKey, { expires_at, monthly_spend_limit: 500 });
    const inherited = await make(KEYS, maker.plaintext, { expires_at: null });
    expect(inherited).toMatchObject({ expires_at, monthly_spend_limit: 500 });
    for (const [fields, param] of [
      [{ expires_at: '2031-01-01T00:00:01Z' }, 'expires_at'],
      [{ monthly_spend_limit: 501 }, 'monthly_spend_limit'],
      [{ monthly_spend_limit: null }, 'monthly_spend_limit'],
      [{ rate_limit_per_minute: 601 }, 'rate_limit_per_minute'],
    ] as const) {
      expect(await call('POST', KEYS, { name: 'n', ...fields }, maker.plaintext)).toEqual(
        refusal(403, 'permission_error', param),
      );
    }
    const lower = await make(KEYS, maker.plaintext, {
      expires_at: '2030-01-01T00:00:00Z',
      monthly_spend_limit: 5,
      rate_limit_per_minute: 6,
    });
    expect(lower).toMatchObject({ monthly_spend_limit: 5, rate_limit_per_minute: 6 });
    const patch = (key: string, body: object) =>
      call('PATCH', `${KEYS}/${String(lower.id)}`, body, key);
    const tooLate = refusal(403, 'permission_error', 'expires_at');
    expect(await patch(maker.plaintext, { expires_at: '2032-01-01' })).toEqual(tooLate);
    expect((await patch(maker.plaintext, { expires_at: null })).body).toMatchObject({ expires_at });
    // A key that is not an ancestor may only shorten the expiry.
    expect(await patch(root.plaintext, { expires_at: null })).toEqual(tooLate);
    expect((await patch(root.plaintext, { expires_at: '2029-01-01' })).status).toBe(200);
  });

  it('may not change its ancestors, and creates chains of at most eight keys', async () => {
    let below = await makeKey(child.plaintext);
    for (const [method, body] of [['DELETE'], ['PATCH', { name: 'n' }]] as [string, object?][]) {
      expect(await call(method, `${KEYS}/${child.id}`, body, below.plaintext)).toEqual(UNKEYED);
    }
    for (let depth = 3; depth <= 8; depth++) below = await makeKey(below.plaintext);
    expect(await call('POST', KEYS, { name: 'n' }, below.plaintext)).toEqual(UNKEYED);
  });

  it('ends its descendants with itself, here at once and elsewhere within a second', async () => {
    const { managementKey } = gateway;
    for (const end of ['DELETE', 'PATCH']) {
      const maker = await makeKey(managementKey);
      const made = await makeKey((await makeKey(maker.plaintext)).plaintext);
      const statusAt = async (instance: BootedGateway) =>
        (await call('GET', KEYS, undefined, made.plaintext, instance)).status;
      expect([await statusAt(gateway), await statusAt(restricted)]).toEqual([200, 200]);
      const expires_at = new Date(Date.now() + 2_000).toISOString();
      const body = end === 'PATCH' ? { expires_at } : undefined;
      expect((await call(end, `${KEYS}/${maker.id}`, body, managementKey)).status).toBe(200);
      if (end === 'DELETE') expect(await statusAt(gateway)).toBe(401);
      for (const instance of [gateway, restricted]) {
        await until(async () => (await statusAt(instance)) !== 200, 20_000);
      }
      const { body: record } = await call('GET', `${KEYS}/${made.id}`);
      expect(record).toMatchObject({ status: end === 'DELETE' ? 'revoked' : 'expired' });
    }
  });

  it('shares its limits per minute and month with its descendants', async () => {
    const ask = async (key: string) => {
      const messages = [{ role: 'user', content: 'one two' }];
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sandbox/echo', messages, max_tokens: 5 }),
      });
      await response.arrayBuffer();
      return response;
    };
    const maker = await access.makeKey({
      tenantId: gateway.tenantId,
      rateLimitPerMinute: 100_000,
      monthlySpendLimit: 1_000_000,
    });
    const made = await makeKey((await makeKey(maker.plaintext)).plaintext);
    const [first, second] = [await ask(maker.plaintext), await ask(made.plaintext)];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(Number(second.headers.get('x-ratelimit-limit'))).toBe(600);

    const { rows } = await access.database.query<{ id: string; spent: number }>(
      `SELECT api_key_id AS id, spent FROM key_months WHERE api_key_id = ANY ($1)`,
      [[maker.id, made.id]],
    );
    const { rows: keys } = await access.database.query<{ spent: number }>(
      `SELECT sum(total_spend)::bigint AS spent FROM api_keys WHERE id = ANY ($1)`,
      [[maker.id, made.id]],
    );
    expect(keys[0]!.spent).toBeGreaterThan(0);
    expect(rows).toEqual([{ id: maker.id, spent: keys[0]!.spent }]);

    await access.database.query('UPDATE api_keys SET monthly_spend_limit = $2 WHERE id = $1', [
      maker.id,
      keys[0]!.spent,
    ]);
    const limitOf = async (key: string) =>
      ((await call('GET', '/api/v1/key', undefined, key)).body.data as { limit_remaining: number })
        .limit_remaining;
    expect(await limitOf(made.plaintext)).toBe(0);
    expect((await ask(made.plaintext)).status).toBe(402);
  });
});

it('covers every operation that changes something', async () => {
  const description = (await (await fetch(`${gateway.url}/docs-json`)).json()) as {
    paths: Record<string, object>;
  };
  const covered = new Set([
    ...Object.keys(BODIES).flatMap((path) => [path, `${path}/{id}`]),
    `${DESTINATIONS}/{id}/test`,
    `${ALERTS}/{id}/test`,
    `${WEBHOOK_SECRET}/rotate`,
    // Tests rules on a text and changes nothing: customer-guardrails.e2e-spec.ts.
    `${GUARDRAILS}/test`,
    // They call the vendor and change nothing: role-matrix.e2e-spec.ts and audit-log.e2e-spec.ts.
    `${CREDENTIALS}/test`,
    `${CREDENTIALS}/{id}/test`,
    // Only management keys set these: limits.e2e-spec.ts, failover-scenarios.e2e-spec.ts and account-access.e2e-spec.ts.
    '/v1/customer/limits',
    '/v1/customer/settings',
    '/v1/customer/end-users/default-limits',
    '/v1/customer/end-users/{end_user}/limits',
    // Covered by people.e2e-spec.ts, content-log.e2e-spec.ts and jobs-api.e2e-spec.ts.
    '/v1/customer/jobs/{id}',
    '/v1/customer/members/{id}',
    '/v1/customer/invitations',
    '/v1/customer/invitations/{id}',
    '/v1/customer/content-log',
    '/v1/customer/logs/{request_id}/content',
  ]);
  const changes = Object.entries(description.paths)
    .filter(([path]) => path.startsWith('/v1/customer/'))
    .filter(([, operations]) => Object.keys(operations).some((method) => method !== 'get'));
  expect(changes.map(([path]) => path).filter((path) => !covered.has(path))).toEqual([]);
});
