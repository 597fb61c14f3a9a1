import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openAccessServices, type AccessServices } from '../support/access-services.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { until } from '../support/until.js';

const API_KEYS = '/v1/customer/api-keys';
/** One word in and at most 16 tokens out: 1 + 32 credits are held, and fewer are charged. */
const BODY = {
  model: 'sandbox/echo',
  messages: [{ role: 'user', content: 'word' }],
  max_tokens: 16,
};

interface Created {
  id: string;
  key: string;
  monthly_spend_limit: number | null;
  monthly_spend: { credits: number; spent: number; remaining: number } | null;
  type: string;
  parent_id: string | null;
}

let gateway: BootedGateway;
let access: AccessServices;

beforeAll(async () => {
  gateway = await bootGateway();
  access = await openAccessServices(gateway.config.databaseUrl!);
});
afterAll(async () => {
  await access.close();
  await gateway.close();
});

const as = (key: string) => ({ authorization: `Bearer ${key}` });

async function create(fields: object, caller = gateway.apiKey): Promise<Created> {
  const response = await gateway.post(API_KEYS, { name: 'limited', ...fields }, as(caller));
  expect(response.status).toBe(201);
  return (await response.json()) as Created;
}

async function ask(
  key: string,
): Promise<{ status: number; error?: { type: string; param: string } }> {
  const response = await gateway.post('/v1/chat/completions', BODY, as(key));
  const { error } = (await response.json()) as { error?: { type: string; param: string } };
  return { status: response.status, error };
}

async function keyData(key: string): Promise<Record<string, number>> {
  const response = await gateway.fetch('/api/v1/key', { headers: as(key) });
  return ((await response.json()) as { data: Record<string, number> }).data;
}

describe('monthly_spend_limit', () => {
  it('stops a key that has spent it, with 402, and shows the remaining credits', async () => {
    const { key, monthly_spend_limit } = await create({ monthly_spend_limit: 100 });
    expect(monthly_spend_limit).toBe(100);
    const statuses = await Promise.all(Array.from({ length: 40 }, () => ask(key)));
    for (let round = 0; round < 20; round++) statuses.push(await ask(key));
    const refused = statuses.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(20);
    for (const { status, error } of refused) {
      expect(status).toBe(402);
      expect(error).toMatchObject({ type: 'insufficient_credits', param: 'monthly_spend_limit' });
    }
    const { usage, limit, limit_remaining: left } = await keyData(key);
    expect(usage).toBeLessThanOrEqual(100);
    expect(usage).toBeGreaterThan(0);
    expect({ limit, left }).toEqual({ limit: 100, left: 100 - usage! });

    const credits = await gateway.fetch('/v1/customer/credits', { headers: as(key) });
    expect(await credits.json()).toMatchObject({ quotas: { monthly_spend_limit: 100 } });
    // A refusal is logged at no cost; other keys of the tenant keep working.
    const logs = await gateway.fetch(`/v1/customer/logs?status=error&limit=1`, {
      headers: as(key),
    });
    expect(await logs.json()).toMatchObject({ logs: [{ outcome: 'refused', cost: 0 }] });
    expect((await ask(gateway.apiKey)).status).toBe(200);
  });

  it('of a tenant stops all its keys, and can be set and lifted', async () => {
    const tenantId = await access.makeTenant('limited tenant');
    await access.grants.grant(tenantId, 5_000);
    const keys = [await access.makeKey({ tenantId }), await access.makeKey({ tenantId })];
    for (const { plaintext } of keys) expect((await ask(plaintext)).status).toBe(200);
    await access.tenants.setMonthlySpendLimit(tenantId, 20);
    for (const { plaintext } of keys) {
      await until(async () => (await ask(plaintext)).status !== 200);
      expect(await ask(plaintext)).toMatchObject({
        status: 402,
        error: { param: 'monthly_spend_limit' },
      });
    }
    await access.tenants.setMonthlySpendLimit(tenantId, null);
    await until(async () => (await ask(keys[0]!.plaintext)).status === 200);
  });

  it('is shown with every key, limited or not', async () => {
    const [limited, free] = [await create({ monthly_spend_limit: 700 }), await create({})];
    const list = await gateway.fetch(API_KEYS);
    const { data } = (await list.json()) as { data: Created[] };
    for (const [{ id }, limit] of [
      [limited, 700],
      [free, null],
    ] as const) {
      expect(data.find((key) => key.id === id)?.monthly_spend_limit).toBe(limit);
      const record = await gateway.fetch(`${API_KEYS}/${id}`);
      expect(await record.json()).toMatchObject({ id, monthly_spend_limit: limit });
    }
  });

  it('is listed with the spend, or with the tighter one of an ancestor', async () => {
    const parent = await create({ monthly_spend_limit: 700 }, gateway.managementKey);
    const child = await create({}, parent.key);
    const tighter = await create({ monthly_spend_limit: 60 }, parent.key);
    for (const { key } of [parent, child]) expect((await ask(key)).status).toBe(200);
    const list = await gateway.fetch(API_KEYS);
    const { data } = (await list.json()) as { data: Created[] };
    const find = (id: string) => data.find((key) => key.id === id)!;
    const { spent } = find(parent.id).monthly_spend!;
    expect(spent).toBeGreaterThan(0);
    expect(find(parent.id)).toMatchObject({
      type: 'routing',
      parent_id: null,
      monthly_spend: { period: 'month', credits: 700, spent, held: 0, remaining: 700 - spent },
    });
    expect(find(child.id)).toMatchObject({
      parent_id: parent.id,
      monthly_spend: find(parent.id).monthly_spend,
    });
    expect(find(tighter.id).monthly_spend).toMatchObject({ credits: 60, spent: 0, remaining: 60 });
  });

  it('cannot be evaded by creating another key', async () => {
    const { key } = await create({ monthly_spend_limit: 500 });
    expect((await create({}, key)).monthly_spend_limit).toBe(500);
    expect((await create({ monthly_spend_limit: 400 }, key)).monthly_spend_limit).toBe(400);
    for (const wanted of [501, null]) {
      const response = await gateway.post(
        API_KEYS,
        { name: 'more', monthly_spend_limit: wanted },
        as(key),
      );
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ error: { param: 'monthly_spend_limit' } });
    }
  });

  it.each([0, -1, 1.5, '5', 2 ** 53])('rejects %j at creation', async (wanted) => {
    const response = await gateway.post(API_KEYS, { name: 'n', monthly_spend_limit: wanted });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'monthly_spend_limit' } });
  });

  it('is not changed by PATCH', async () => {
    const { id } = await create({ monthly_spend_limit: 500 });
    const response = await gateway.fetch(`${API_KEYS}/${id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ monthly_spend_limit: 5_000 }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'monthly_spend_limit' } });
  });
});
