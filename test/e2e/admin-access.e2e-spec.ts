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
  it('tells who it makes one', async () => {
    const answer = await call('/v1/admin/whoami', gateway.adminKey);
    expect(answer).toMatchObject({
      status: 200,
      body: { kind: 'admin_key', name: 'First admin key', role: 'admin' },
    });
  });

  it.each(['/v1/customer/api-keys', '/v1/models', '/api/v1/key', '/v1/generation?id=1'])(
    'does not open %s',
    async (path) => {
      const { status, body } = await call(path, gateway.adminKey);
      expect(status).toBe(401);
      expect(JSON.stringify(body)).toContain('/v1/admin');
    },
  );

  it('is asked for: 401 without one and for unknown ones, 403 for keys of tenants', async () => {
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

  it('may be guessed only so often', async () => {
    const address = nextAddress();
    const statuses = new Set<number>();
    for (let count = 0; count < 102; count++) {
      const { status } = await call('/v1/admin/whoami', `sk-admin-guess-${count}`, { address });
      statuses.add(status);
    }
    expect([...statuses]).toEqual([401, 429]);
  });
});
