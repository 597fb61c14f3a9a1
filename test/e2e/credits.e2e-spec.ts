import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type {
  CreditHistoryDto,
  CustomerCreditsDto,
  CreditsDto,
} from '../../src/features/credits/credits.dto.js';
import { openAccessServices, type AccessServices } from '../support/access-services.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';

const TOTALS = '/api/v1/credits';
const OVERVIEW = '/v1/customer/credits';
const GRANTED = 50_000;

let gateway: BootedGateway;
let access: AccessServices;

beforeAll(async () => {
  gateway = await bootGateway({ GATEWAY_BOOTSTRAP_CREDITS: String(GRANTED) });
  access = await openAccessServices(gateway.config.databaseUrl!);
});
afterAll(async () => {
  await access.close();
  await gateway.close();
});

async function read<Body>(path: string, plaintext: string): Promise<Body> {
  const response = await fetch(gateway.url + path, {
    headers: { authorization: `Bearer ${plaintext}` },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Body;
}

const totalsOf = (plaintext: string) => read<CreditsDto>(TOTALS, plaintext);
const overviewOf = (plaintext: string) => read<CustomerCreditsDto>(OVERVIEW, plaintext);

/** Sends a request and reads its answer to the end. */
async function complete(model: string): Promise<Response> {
  const answer = await gateway.post('/v1/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'one two three' }],
  });
  await answer.text();
  return answer;
}

/** Creates an unused tenant whose account is set by the SQL statement. */
async function makeTenant(name: string) {
  const tenantId = await access.makeTenant(name);
  const key = await access.makeKey({ tenantId, rateLimitPerMinute: 77 });
  const managementKey = await access.makeKey({ tenantId, type: 'management' });
  return { tenantId, key: key.plaintext, managementKey: managementKey.plaintext };
}

async function setAccount(
  tenantId: string,
  account: { balance: number; held: number; granted: number; spent: number; requests: number },
): Promise<void> {
  await gateway.database.query(
    `INSERT INTO accounts (tenant_id, balance, held, granted, spent, request_count)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (tenant_id) DO UPDATE SET
       balance = excluded.balance, held = excluded.held, granted = excluded.granted,
       spent = excluded.spent, request_count = excluded.request_count`,
    [tenantId, account.balance, account.held, account.granted, account.spent, account.requests],
  );
}

async function setMonth(
  tenantId: string,
  month: Date,
  spent: number,
  requests: number,
): Promise<void> {
  await gateway.database.query(
    `INSERT INTO account_months (tenant_id, month, spent, request_count) VALUES ($1, $2, $3, $4)`,
    [tenantId, month.toISOString().slice(0, 10), spent, requests],
  );
}

describe('credits after requests', () => {
  it('agree on both paths, to the credit, as soon as each answer has ended', async () => {
    const before = await overviewOf(gateway.apiKey);
    expect(before.lifetime.granted).toBe(GRANTED);
    let spent = before.lifetime.spent;
    for (let request = 1; request <= 3; request++) {
      const answer = await complete('sandbox/echo');
      // 3 words in at 1 credit, 5 words out ("Sandbox echo: …") at 2 credits.
      expect(answer.headers.get('x-gateway-cost')).toBe('13');
      spent += 13;
      const left = GRANTED - spent;
      expect(await totalsOf(gateway.managementKey)).toEqual({
        data: { total_credits: GRANTED, total_usage: spent },
      });
      const overview = await overviewOf(gateway.apiKey);
      expect(overview.balance).toEqual({ available: left, held: 0, total: left });
      expect(overview.lifetime).toEqual({
        granted: GRANTED,
        spent,
        requests: before.lifetime.requests + request,
      });
      expect(overview.current_period).toMatchObject({
        spent,
        requests: before.current_period.requests + request,
      });
    }
  });

  it('are unchanged by a failed request, which still counts as one', async () => {
    const before = await overviewOf(gateway.apiKey);
    expect((await complete('sandbox/fault-500')).status).toBe(502);
    const after = await overviewOf(gateway.apiKey);
    expect(after.balance).toEqual(before.balance);
    expect(after.lifetime).toEqual({
      ...before.lifetime,
      requests: before.lifetime.requests + 1,
    });
  });
});

describe(`GET ${OVERVIEW}/history`, () => {
  it('ends at the current balance, day by day, with grants and spend', async () => {
    const { balance, lifetime } = await overviewOf(gateway.apiKey);
    const { data, daily_spend } = await read<CreditHistoryDto>(
      `${OVERVIEW}/history?days=3`,
      gateway.managementKey,
    );
    expect(data).toHaveLength(3);
    const sum = (of: 'added' | 'spent') => data.reduce((whole, day) => whole + day[of], 0);
    expect([sum('added'), sum('spent')]).toEqual([GRANTED, lifetime.spent]);
    expect(data.map((day) => day.balance)).toEqual([0, expect.any(Number), balance.total]);
    // Daily spend excludes today, which is incomplete; after midnight it becomes yesterday.
    expect(daily_spend).toBe(Math.round((lifetime.spent - data[2]!.spent) / 7));
  });

  it.each(['0', '367', '1.5', 'week'])('rejects %s days', async (days) => {
    const response = await gateway.fetch(`${OVERVIEW}/history?days=${days}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'days' } });
  });
});

describe(`GET ${TOTALS}`, () => {
  it('rejects a routing key', async () => {
    const response = await gateway.fetch(TOTALS);
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      error: { type: 'permission_error', code: 403, param: 'authorization' },
    });
  });

  it.each(['', 'Bearer sk-mgmt-unknown-key-of-nobody'])('answers 401 to %j', async (key) => {
    const response = await gateway.fetch(TOTALS, { headers: { authorization: key } });
    expect(response.status).toBe(401);
  });

  it('shows the totals of its own tenant only', async () => {
    const { tenantId, managementKey } = await makeTenant('totals');
    await setAccount(tenantId, { balance: 60, held: 0, granted: 100, spent: 40, requests: 2 });
    expect(await totalsOf(managementKey)).toEqual({
      data: { total_credits: 100, total_usage: 40 },
    });
  });

  it('shows zeros to a tenant without grants', async () => {
    const { managementKey } = await makeTenant('penniless');
    expect(await totalsOf(managementKey)).toEqual({
      data: { total_credits: 0, total_usage: 0 },
    });
  });
});

describe(`GET ${OVERVIEW}`, () => {
  it('distinguishes held and available credits, and this month and earlier ones', async () => {
    const { tenantId, key, managementKey } = await makeTenant('overview');
    await setAccount(tenantId, { balance: 600, held: 150, granted: 1000, spent: 400, requests: 9 });
    const now = new Date();
    const monthAt = (offset: number) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset));
    await setMonth(tenantId, monthAt(-1), 300, 6);
    await setMonth(tenantId, monthAt(0), 90, 2);
    await setMonth(tenantId, monthAt(1), 10, 1);

    const overview = {
      balance: { available: 450, held: 150, total: 600 },
      current_period: {
        start: monthAt(0).toISOString(),
        end: monthAt(1).toISOString(),
        spent: 90,
        requests: 2,
      },
      lifetime: { granted: 1000, spent: 400, requests: 9 },
      quotas: { requests_per_minute: 77, monthly_spend_limit: null },
    };
    expect(await overviewOf(key)).toEqual(overview);
    expect(await overviewOf(managementKey)).toEqual({
      ...overview,
      quotas: { requests_per_minute: 600, monthly_spend_limit: null },
    });
  });

  it('shows zeros to an unused tenant', async () => {
    const { key } = await makeTenant('idle');
    expect(await overviewOf(key)).toMatchObject({
      balance: { available: 0, held: 0, total: 0 },
      current_period: { spent: 0, requests: 0 },
      lifetime: { granted: 0, spent: 0, requests: 0 },
    });
  });

  it.each(['', 'Bearer sk-unknown-key-of-nobody'])('answers 401 to %j', async (authorization) => {
    const response = await gateway.fetch(OVERVIEW, { headers: { authorization } });
    expect(response.status).toBe(401);
  });
});
