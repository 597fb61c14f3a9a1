import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { JobSweeper } from '../../src/features/jobs/job-sweeper.service.js';
import type { AnalyticsDto } from '../../src/features/customer/analytics/analytics.dto.js';
import type { LogRowDto } from '../../src/core/request-log/log-row.dto.js';
import type { StatementDto } from '../../src/features/customer/statements/statements.dto.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import {
  errorAnswer,
  politeAnswer,
  startFakeOpenAi,
  type FakeOpenAi,
} from '../support/fake-openai.js';
import { done, fakeMedia, file } from '../support/fake-media.js';
import { jobIn, submitJob } from '../support/job-client.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';

const API_KEYS = '/v1/customer/api-keys';
const GRANTED = 1_000_000_000;
/** 100 tokens in at 1 credit and 50 out at 2; the BYOK fee is 5 % of it. */
const CHAT_COST = 200;
const FEE = 10;
const IMAGE_COST = 40_000;

interface Key {
  id: string;
  key: string;
}

interface KeyRecord {
  id: string;
  usage: { request_count: number; total_spend: number };
  last_used_at: string | null;
}

let vendor: FakeOpenAi;
let files: OperatorFiles;
let gateway: BootedGateway;
let shared: Key;
let own: Key;

const as = ({ key }: Key): Record<string, string> => ({ authorization: `Bearer ${key}` });
const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

async function read<Body>(path: string, key = gateway.apiKey): Promise<Body> {
  const response = await gateway.fetch(path, { headers: { authorization: `Bearer ${key}` } });
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as Body;
}

async function makeKey(fields: object = {}): Promise<Key> {
  const response = await gateway.post(API_KEYS, { name: 'made', ...fields });
  expect(response.status).toBe(201);
  return (await response.json()) as Key;
}

/** Reads a chat completion to its end and returns its status. */
async function chat(key: Key, fields: object = {}, headers = {}): Promise<number> {
  const response = await gateway.post(
    '/v1/chat/completions',
    { model: 'one/a', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 60, ...fields },
    { ...as(key), ...headers },
  );
  await response.text();
  return response.status;
}

const allLogs = async (): Promise<LogRowDto[]> => {
  const logs: LogRowDto[] = [];
  for (;;) {
    const page = await read<{ logs: LogRowDto[]; pagination: { has_more: boolean } }>(
      `/v1/customer/logs?limit=100&offset=${logs.length}`,
    );
    logs.push(...page.logs);
    if (!page.pagination.has_more) return logs;
  }
};

beforeAll(async () => {
  vendor = await startFakeOpenAi((call, response) =>
    call.rawBody.includes('please fail')
      ? errorAnswer(500)(call, response)
      : politeAnswer({ promptTokens: 100, completionTokens: 50 })(call, response),
  );
  const pricing = { prompt: '0.000001', completion: '0.000002' };
  files = await writeOperatorFiles(
    { one: vendor.baseUrl, two: { base_url: vendor.baseUrl, api_key_env: 'TWO_KEY' } },
    [
      { id: 'one/a', pricing },
      { id: 'two/a', pricing },
      { id: 'one/draw', kind: 'image', pricing: { prompt: '0', completion: '0', image: '0.04' } },
    ],
  );
  gateway = await bootGateway({
    ...files.environment,
    TWO_KEY: 'the-operators-key-for-two',
    GATEWAY_BOOTSTRAP_CREDITS: String(GRANTED),
    GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'true',
    GATEWAY_COOLDOWN_MS: '1',
    GATEWAY_JOB_POLL_MS: '20',
  });
  fakeMedia(gateway, 'one').submit = () => Promise.resolve(done(file('drawn')));
  [shared, own] = [await makeKey(), await makeKey()];
  await gateway.post('/v1/customer/provider-credentials', { provider: 'two', key: 'own-key-1' });
});
afterAll(async () => {
  await gateway.close();
  await files.remove();
  await vendor.close();
});

/** Makes its files older than the limit and runs the sweeper. */
async function expire(jobId: string): Promise<void> {
  await gateway.database.query(
    "UPDATE jobs SET expires_at = now() - interval '1 minute' WHERE id = $1",
    [jobId],
  );
  await gateway.gateway.application.get(JobSweeper, { strict: false }).sweepNow();
  await jobIn(gateway, jobId, 'expired');
}

describe('after a month of all kinds of requests', () => {
  beforeAll(async () => {
    const cached = { 'x-gateway-cache': 'true' };
    const draw = { model: 'one/draw', prompt: 'a barn' };
    expect(await chat(shared, { temperature: 0.5 }, cached)).toBe(200);
    const statuses = await Promise.all([
      ...Array.from({ length: 20 }, () => chat(shared)),
      ...Array.from({ length: 20 }, () => chat(shared, { stream: true })),
      ...Array.from({ length: 10 }, () => chat(own, { model: 'two/a' })),
      ...Array.from({ length: 10 }, () => chat(own, { model: 'two/a', stream: true })),
      ...Array.from({ length: 10 }, () => chat(shared, { temperature: 0.5 }, cached)),
      ...[1, 2, 3].map(() =>
        chat(shared, { messages: [{ role: 'user', content: 'please fail' }] }),
      ),
    ]);
    expect(statuses.filter((status) => status !== 200)).toEqual([502, 502, 502]);
    const jobs = await Promise.all([1, 2, 3].map(() => submitJob(gateway, draw, as(shared))));
    for (const { id } of jobs) await jobIn(gateway, id, 'succeeded');
    await expire(jobs[0]!.id);
  });

  const charged = 41 * CHAT_COST + 20 * FEE + 3 * IMAGE_COST;

  it('the statement matches the ledger, and the credits match both', async () => {
    const month = new Date().toISOString().slice(0, 7);
    const statement = await read<StatementDto>(`/v1/customer/statements/${month}`);
    expect(statement.totals).toEqual({
      grant: GRANTED,
      correction: 0,
      charge: -charged,
      shortfall: 0,
      refund: IMAGE_COST,
      net: GRANTED - charged + IMAGE_COST,
    });
    const byKind = (kind: string): number =>
      sum(statement.entries.filter((entry) => entry.kind === kind).map(({ amount }) => amount));
    for (const kind of ['grant', 'correction', 'charge', 'shortfall', 'refund'] as const) {
      expect(byKind(kind)).toBe(statement.totals[kind]);
    }
    const credits = await read<Record<string, Record<string, number>>>('/v1/customer/credits');
    expect(credits.balance).toEqual({
      available: statement.closing_balance,
      held: 0,
      total: statement.closing_balance,
    });
    const spent = charged - IMAGE_COST;
    expect(credits.lifetime).toEqual({ granted: GRANTED, spent, requests: 77 });
    expect(credits.current_period).toMatchObject({ spent, requests: 77 });
    expect(await read('/api/v1/credits', gateway.managementKey)).toEqual({
      data: { total_credits: GRANTED, total_usage: spent },
    });
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
  });

  it('the log matches row by row, with BYOK and cached requests distinguished', async () => {
    const logs = await allLogs();
    expect(logs).toHaveLength(77);
    expect(sum(logs.map(({ cost }) => cost))).toBe(charged);
    for (const { cost, cost_breakdown: parts } of logs) {
      expect(parts.total_charge).toBe(cost);
      expect(
        parts.model_charge +
          parts.byok_platform_fee +
          parts.managed_tool_fee +
          parts.agent_runtime_fee,
      ).toBe(cost);
    }
    const byok = logs.filter(({ traffic_mode: mode }) => mode === 'byok');
    expect(byok).toHaveLength(20);
    for (const row of byok) {
      expect(row).toMatchObject({ cost: FEE, billing_note: expect.any(String), provider: 'two' });
    }
    const free = logs.filter(({ cost, status }) => cost === 0 && status === 'success');
    expect(free).toHaveLength(10);
    for (const grouping of ['model', 'provider', 'api_key', 'status', 'day', 'hour']) {
      const { data } = await read<AnalyticsDto>(`/v1/customer/analytics?group_by=${grouping}`);
      expect(sum(data.map(({ requests }) => requests))).toBe(77);
      expect(sum(data.map(({ errors }) => errors))).toBe(3);
      expect(sum(data.map(({ cost }) => cost))).toBe(charged);
    }
  });

  it('the keys’ counters match it, less refunds', async () => {
    const logs = await allLogs();
    const { data } = await read<{ data: KeyRecord[] }>(API_KEYS);
    for (const [{ id, key }, refunded] of [
      [shared, IMAGE_COST],
      [own, 0],
    ] as const) {
      const rows = logs.filter(({ api_key_id: keyId }) => keyId === id);
      const record = data.find((each) => each.id === id)!;
      const spend = sum(rows.map(({ cost }) => cost)) - refunded;
      expect(record.usage).toEqual({ request_count: rows.length, total_spend: spend });
      const newest = Math.max(...rows.map(({ created_at: at }) => Date.parse(at)));
      expect(Date.parse(record.last_used_at!)).toBeGreaterThanOrEqual(newest);
      expect(await read('/api/v1/key', key)).toMatchObject({ data: { usage: spend } });
    }
  });
});

describe('a monthly spend limit', () => {
  const limitOf = async (key: Key): Promise<{ usage: number; limit_remaining: number }> =>
    (await read<{ data: { usage: number; limit_remaining: number } }>('/api/v1/key', key.key)).data;

  it('is reached exactly by BYOK requests, which cost their fee', async () => {
    const key = await makeKey({ monthly_spend_limit: 6 * FEE - 1 });
    // As long as the vendor reports, so that no charge exceeds its hold.
    const messages = [{ role: 'user', content: 'word '.repeat(60) }];
    const ask = (): Promise<number> => chat(key, { model: 'two/a', messages });
    const statuses: number[] = [];
    for (let round = 0; round < 5; round++) {
      statuses.push(...(await Promise.all(Array.from({ length: 10 }, ask))));
    }
    for (let round = 0; round < 5; round++) statuses.push(await ask());
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(new Set(statuses)).toEqual(new Set([200, 402]));
    expect(await limitOf(key)).toMatchObject({ usage: 5 * FEE, limit_remaining: FEE - 1 });
  });

  it('allows cached answers when it is used up', async () => {
    const key = await makeKey({ monthly_spend_limit: 240 });
    const headers = { 'x-gateway-cache': '60' };
    const fields = { temperature: 0.25 };
    expect(await chat(key, fields, headers)).toBe(200);
    expect(await chat(key)).toBe(402);
    for (let round = 0; round < 3; round++) expect(await chat(key, fields, headers)).toBe(200);
    expect(await limitOf(key)).toMatchObject({ usage: CHAT_COST, limit_remaining: 40 });
  });

  it('applies to jobs, and refunds free it again', async () => {
    const key = await makeKey({ monthly_spend_limit: IMAGE_COST });
    const submit = (): Promise<Response> =>
      gateway.post('/v1/jobs', { model: 'one/draw', prompt: 'a barn' }, as(key));
    const answers = await Promise.all([1, 2, 3, 4, 5].map(submit));
    const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as {
      id: string;
      error?: object;
    }[];
    const [accepted, ...more] = bodies.filter(({ error }) => !error);
    expect(more).toEqual([]);
    for (const { error } of bodies.filter((body) => body !== accepted)) {
      expect(error).toMatchObject({ code: 402, param: 'monthly_spend_limit' });
    }
    await jobIn(gateway, accepted!.id, 'succeeded');
    expect(await limitOf(key)).toMatchObject({ usage: IMAGE_COST, limit_remaining: 0 });
    expect((await submit()).status).toBe(402);
    await expire(accepted!.id);
    expect(await limitOf(key)).toMatchObject({ usage: 0, limit_remaining: IMAGE_COST });
    expect((await submit()).status).toBe(202);
  });
});
