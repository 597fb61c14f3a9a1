import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import OpenAI from 'openai';
import { WorkQueue } from '../../src/platform/queue/work-queue.js';
import { BackgroundWorker } from '../../src/features/responses/background/background-worker.service.js';
import { BackgroundResponsesRepository } from '../../src/features/responses/background/background-responses.repository.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { errorAnswer, startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';
import { holdBack, respond } from '../support/fake-responses.js';
import { findLedgerFaults, readLedger } from '../support/ledger-invariants.js';
import { loggedRequest } from '../support/logged-request.js';
import { nextGrace } from '../support/next-grace.js';
import { responseResource } from '../support/response-resource.js';
import { createTestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const MODEL = 'openai/gpt-4o-mini';
const CREDENTIALS = '/v1/customer/provider-credentials';
const OPEN = ['queued', 'in_progress'];

describe('a background response', () => {
  let fake: FakeOpenAi;
  let gateway: BootedGateway;
  let client: OpenAI;

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    gateway = await bootGateway({
      OPENAI_API_KEY: 'sk-vendor-key',
      OPENAI_BASE_URL: fake.baseUrl,
      GATEWAY_COOLDOWN_MS: '1',
      GATEWAY_MAX_OPEN_JOBS_PER_TENANT: '2',
    });
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey, maxRetries: 0 });
  });
  beforeEach(() => {
    fake.answer = respond();
    fake.calls.length = 0;
  });
  afterAll(async () => {
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
    await gateway.close();
    await fake.close();
  });

  const create = (fields: object = {}) =>
    client.responses
      .create({ model: MODEL, input: 'Hi', background: true, ...fields, stream: false })
      .withResponse();

  const ended = async (id: string): Promise<OpenAI.Responses.Response> => {
    let response = await client.responses.retrieve(id);
    await until(async () => {
      response = await client.responses.retrieve(id);
      return !OPEN.includes(String(response.status));
    });
    return response;
  };

  it('is accepted at once, generated later, and charged once', async () => {
    const letGo = holdBack(fake);
    const { data, response } = await create({ metadata: { k: 'v' } });
    expect(responseResource.parse(data)).toMatchObject({
      status: 'queued',
      background: true,
      store: true,
      output: [],
      usage: null,
      completed_at: null,
      metadata: { k: 'v' },
    });
    await until(() => fake.calls.length === 1);
    expect((await client.responses.retrieve(data.id)).status).toBe('in_progress');
    expect((await readLedger(gateway.database))[0]!.held).toBeGreaterThan(0);
    const items = await client.responses.inputItems.list(data.id);
    expect(items.data).toMatchObject([{ role: 'user' }]);
    const early = await gateway.fetch(`/v1/responses/${data.id}`, { method: 'DELETE' });
    expect(early.status).toBe(409);
    letGo();
    const done = await ended(data.id);
    expect(responseResource.parse(done)).toMatchObject({
      id: data.id,
      status: 'completed',
      background: true,
      output_text: 'Hello from the fake.',
      metadata: { k: 'v' },
      usage: { input_tokens: 20, output_tokens: 6 },
    });
    expect(fake.calls).toHaveLength(1);
    expect(fake.calls[0]!.body).not.toHaveProperty('background');
    const logged = await loggedRequest(gateway.database, response.headers.get('x-request-id'));
    expect(logged).toMatchObject({
      endpoint: 'responses',
      outcome: 'completed',
      usage_source: 'upstream',
      vendor_cost: logged.cost,
    });
    expect(logged.cost).toBeGreaterThan(0);
    expect((await readLedger(gateway.database))[0]!.held).toBe(0);
    const next = await client.responses.create({
      model: 'sandbox/echo',
      input: 'And now?',
      previous_response_id: data.id,
    });
    expect(next.status).toBe('completed');
  });

  it('accepts any characters', async () => {
    const body = { model: 'sandbox/echo', input: 'Hi \u0000 \ud800 👋', background: true };
    const { id } = (await (await gateway.post('/v1/responses', body)).json()) as { id: string };
    expect((await ended(id)).output_text).toContain('Hi \u0000');
  });

  it('fails with its vendor, free of charge', async () => {
    fake.answer = errorAnswer(500);
    const { data, response } = await create();
    expect(await ended(data.id)).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: expect.any(String) },
    });
    const logged = await loggedRequest(gateway.database, response.headers.get('x-request-id'));
    expect(logged).toMatchObject({ outcome: 'failed', cost: 0, vendor_cost: 0 });
  });

  it('is cancelled at its vendor, charged for the generated output, and stays cancelled', async () => {
    const letGo = holdBack(fake);
    const { data, response } = await create();
    await until(() => fake.calls.length === 1);
    void nextGrace(gateway, 300);
    const cancelled = await client.responses.cancel(data.id);
    expect(cancelled).toMatchObject({ id: data.id, status: 'cancelled', background: true });
    await fake.calls[0]!.hungUp;
    expect(await client.responses.cancel(data.id)).toMatchObject({ status: 'cancelled' });
    const logged = await loggedRequest(gateway.database, response.headers.get('x-request-id'));
    expect(logged).toMatchObject({
      outcome: 'cancelled',
      usage_source: 'estimated',
      vendor_cost: logged.cost,
    });
    expect(logged.cost).toBeGreaterThan(0);
    const follow = await gateway.post('/v1/responses', {
      model: 'sandbox/echo',
      input: 'x',
      previous_response_id: data.id,
    });
    expect(follow.status).toBe(400);
    letGo();
  });

  it('counts as an open job of its tenant', async () => {
    const letGo = holdBack(fake);
    const open = [await create(), await create()];
    const refused = await gateway.post('/v1/responses', {
      model: MODEL,
      input: 'Hi',
      background: true,
    });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { param: 'max_open_jobs' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    letGo();
    for (const { data } of open) await ended(data.id);
    expect((await readLedger(gateway.database))[0]!.held).toBe(0);
  });

  it('restarts, and is charged once, when its worker has died', async () => {
    const letGo = holdBack(fake);
    const { data } = await create();
    await until(() => fake.calls.length === 1);
    // As if another process had claimed it and died.
    await gateway.database.query(
      `UPDATE background_responses SET lease_id = gen_random_uuid(),
         lease_until = now() - interval '1 second', run_at = now() - interval '1 minute'
       WHERE id = $1`,
      [data.id],
    );
    // The end of another response of the tenant would also start it.
    const repository = gateway.gateway.application.get(BackgroundResponsesRepository, {
      strict: false,
    });
    expect(await repository.findDue(gateway.tenantId, 1)).toEqual([data.id]);
    fake.answer = respond({ text: 'The second time.' });
    expect(await ended(data.id)).toMatchObject({
      status: 'completed',
      output_text: 'The second time.',
    });
    letGo();
    const { rows } = await gateway.database.query(
      `SELECT FROM ledger_entries WHERE kind <> 'grant' AND request_id = (
         SELECT request_id FROM stored_responses WHERE id = $1)`,
      [data.id],
    );
    expect(rows).toHaveLength(1);
  });

  it('is free of charge when its hold is insufficient and cannot grow', async () => {
    const worker = gateway.gateway.application.get(BackgroundWorker, { strict: false });
    const place = jest.spyOn(worker, 'place').mockResolvedValue(undefined);
    const own = await gateway.post(CREDENTIALS, { provider: 'openai', key: 'own-key-0001' });
    const { data } = await create();
    // Now on shared capacity instead of a five percent fee, with no other credits left.
    const { id } = (await own.json()) as { id: string };
    await gateway.fetch(`${CREDENTIALS}/${id}`, { method: 'DELETE' });
    const [account] = await readLedger(gateway.database);
    const tenant = `/v1/admin/tenants/${gateway.tenantId}`;
    const credits = account!.balance - account!.held;
    await gateway.admin('POST', `${tenant}/corrections`, { credits: -credits, memo: 'spent' });
    place.mockRestore();
    await gateway.gateway.application.get(WorkQueue, { strict: false }).wake('responses', data.id);
    // A sweep may have claimed it first.
    await until(async () => !OPEN.includes((await client.responses.retrieve(data.id)).status!));
    const response = await client.responses.retrieve(data.id);
    expect(response).toMatchObject({ status: 'failed', error: { message: /has risen/ } });
    expect(fake.calls).toEqual([]);
    expect(await readLedger(gateway.database)).toMatchObject([{ balance: account!.held, held: 0 }]);
    await gateway.admin('POST', `${tenant}/grants`, { credits });
  });

  it.each([
    [{ store: false }, 'store'],
    [{ stream: true }, 'stream'],
    [{ model: 'openai/none' }, 'model'],
    [{ input: [] }, 'input'],
  ])('rejects %j and reserves nothing', async (fields, param) => {
    const body = { model: MODEL, input: 'Hi', background: true, ...fields };
    const response = await gateway.post('/v1/responses', body);
    expect([400, 404]).toContain(response.status);
    expect(await response.json()).toMatchObject({ error: { param } });
    expect((await readLedger(gateway.database))[0]!.held).toBe(0);
  });

  it('rejects cancelling by another tenant, and of a foreground response', async () => {
    const { id } = await client.responses.create({ model: 'sandbox/echo', input: 'Hi' });
    const plain = await gateway.fetch(`/v1/responses/${id}/cancel`, { method: 'POST' });
    expect(plain.status).toBe(400);
    const unknown = `resp_${'0'.repeat(48)}`;
    const none = await gateway.fetch(`/v1/responses/${unknown}/cancel`, { method: 'POST' });
    expect(none.status).toBe(404);
    const stream = await gateway.fetch(`/v1/responses/${id}?stream=true`);
    expect(stream.status).toBe(400);
  });
});

describe('background responses of a stopped service', () => {
  it('restart in the next process, each charged once', async () => {
    const fake = await startFakeOpenAi();
    const database = await createTestDatabase();
    const start = (environment: Record<string, string> = {}): Promise<BootedGateway> =>
      bootGateway(
        {
          OPENAI_API_KEY: 'sk-vendor-key',
          OPENAI_BASE_URL: fake.baseUrl,
          GATEWAY_DRAIN_SECONDS: '1',
          GATEWAY_SECRET: 'a-secret-for-tests-of-enough-length',
          GATEWAY_BOOTSTRAP_API_KEY: 'sk-background-restart-key-01',
          ...environment,
        },
        { database },
      );
    const first = await start();
    // Nothing answers before the stop.
    fake.answer = () => undefined;
    const made = await Promise.all(
      Array.from({ length: 22 }, async () => {
        const body = { model: MODEL, input: 'Hi', background: true };
        return (await (await first.post('/v1/responses', body)).json()) as { id: string };
      }),
    );
    // No tenant exceeds its share of the slots.
    await until(() => fake.calls.length === 20);
    await pause(300);
    expect(fake.calls).toHaveLength(20);
    await first.close();
    expect((await readLedger(database.database))[0]!.holds).toBeGreaterThan(0);
    // Other instances are woken instead of waiting for the sweep.
    const { rows: wakeUps } = await database.database.query(
      "SELECT FROM graphile_worker.jobs WHERE task_identifier = 'responses'",
    );
    expect(wakeUps.length).toBeGreaterThanOrEqual(20);

    fake.answer = respond({ text: 'After all.' });
    const second = await start();
    for (const { id } of made) {
      await until(async () => {
        const response = await second.fetch(`/v1/responses/${id}`);
        const { status } = (await response.json()) as { status: string };
        return status === 'completed';
      });
    }
    expect(await findLedgerFaults(database.database)).toEqual([]);
    expect((await readLedger(database.database))[0]!.held).toBe(0);
    const { rows } = await database.database.query<{ outcome: string; count: number }>(
      'SELECT outcome, count(*) FROM request_logs GROUP BY outcome',
    );
    expect(rows).toEqual([{ outcome: 'completed', count: 22 }]);
    await second.close();
    await database.drop();
    await fake.close();
  });
});
