import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { GenerationDto } from '../../src/features/customer/generation/generation.dto.js';
import { openAccessServices, type AccessServices } from '../support/access-services.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { insertRequestLogRow } from '../support/request-log-rows.js';

describe.each(['/v1/generation', '/api/v1/generation'])('GET %s', (path) => {
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

  /** Sends a request, reads its answer to the end, and returns its id. */
  async function complete(body: object): Promise<string> {
    const answer = await gateway.post('/v1/chat/completions', {
      messages: [{ role: 'user', content: 'one two three' }],
      ...body,
    });
    await answer.text();
    return answer.headers.get('x-request-id')!;
  }

  async function lookUp(id: string): Promise<GenerationDto['data']> {
    const response = await gateway.fetch(`${path}?id=${id}`);
    expect(response.status).toBe(200);
    return ((await response.json()) as GenerationDto).data;
  }

  async function refusal(query: string) {
    const response = await gateway.fetch(path + query);
    const { error } = (await response.json()) as { error: { type: string; param: string } };
    return { status: response.status, type: error.type, param: error.param };
  }

  it.each([false, true])(
    'shows a chat completion once it has ended (stream: %s)',
    async (stream) => {
      const before = Date.now();
      const id = await complete({ model: 'sandbox/echo', stream });
      const record = await lookUp(id);
      expect(interfaceFieldsOf(record)).toEqual({
        id,
        model: 'sandbox/echo',
        provider_name: 'sandbox',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        tokens_prompt: 3,
        tokens_completion: 5,
        latency: expect.any(Number),
        finish_reason: 'stop',
        total_cost: 13,
        streamed: stream,
        cancelled: false,
        generation_time: expect.any(Number),
        usage: 13,
        native_tokens_prompt: 3,
        native_tokens_completion: 5,
      });
      expect(record.latency).toBeGreaterThanOrEqual(0);
      expect(record.latency).toBeLessThanOrEqual(Date.now() - before);
      expect(record.generation_time).toBeLessThanOrEqual(record.latency + 1);
    },
  );

  it('shows the history of the request, and the caller’s names for it', async () => {
    const tags = { 'x-gateway-tags': 'team=search, feature=answers' };
    const answer = await gateway.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...tags },
      body: JSON.stringify({
        model: 'sandbox/words',
        messages: [{ role: 'user', content: '5 words' }],
        stream: true,
        user: 'ann',
        metadata: { team: 'other', env: 'test', depth: 'x'.repeat(101) },
      }),
    });
    await answer.text();
    const record = await lookUp(answer.headers.get('x-request-id')!);
    const [attempt] = record.attempts;
    expect(record).toMatchObject({
      end_user: 'ann',
      tags: { team: 'search', feature: 'answers', env: 'test' },
      vendor_cost: record.total_cost,
      attempts: [
        {
          route: 'sandbox/sandbox/words',
          outcome: 'answered',
          status: 200,
          vendor_cost: record.total_cost,
        },
      ],
    });
    expect(record.first_token_ms).toBeGreaterThanOrEqual(attempt!.started_ms);
    expect(record.first_token_ms).toBeLessThanOrEqual(record.latency);
    expect(attempt!.started_ms + attempt!.duration_ms).toBe(record.latency);
  });

  it.each(['team', 'Team=a', `team=${'x'.repeat(101)}`, 'a=1,a=2'])(
    'rejects the tags %j',
    async (tags) => {
      for (const [url, body] of [
        ['/v1/chat/completions', { model: 'sandbox/echo', messages: [] }],
        ['/v1/embeddings', { model: 'sandbox/embed', input: 'a' }],
        ['/v1/jobs', { model: 'sandbox/image', modality: 'image', prompt: 'a' }],
      ] as const) {
        const messages = [{ role: 'user', content: 'Hi' }];
        const response = await gateway.fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-gateway-tags': tags },
          body: JSON.stringify('messages' in body ? { ...body, messages } : body),
        });
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({ error: { param: 'x-gateway-tags' } });
      }
    },
  );

  it("shows the answer's own finish reason", async () => {
    const id = await complete({ model: 'sandbox/echo', max_tokens: 2 });
    expect(await lookUp(id)).toMatchObject({ finish_reason: 'length', tokens_completion: 2 });
  });

  it('shows a failed request without a finish reason, counts or cost', async () => {
    const id = await complete({ model: 'sandbox/fault-500' });
    expect(await lookUp(id)).toMatchObject({
      finish_reason: '',
      cancelled: false,
      total_cost: 0,
      usage: 0,
      native_tokens_prompt: null,
      native_tokens_completion: null,
    });
  });

  it('marks estimates and disconnected callers', async () => {
    const row = await insertRequestLogRow(gateway.database, gateway.tenantId, {
      outcome: 'cancelled',
      usageSource: 'estimated',
      finishReason: null,
      streamed: true,
      promptTokens: 7,
      completionTokens: 3,
    });
    expect(await lookUp(row.requestId)).toMatchObject({
      cancelled: true,
      streamed: true,
      finish_reason: '',
      tokens_prompt: 7,
      tokens_completion: 3,
      native_tokens_prompt: null,
      native_tokens_completion: null,
    });
  });

  it('accepts an uppercase id, and a management key', async () => {
    const { requestId } = await insertRequestLogRow(gateway.database, gateway.tenantId);
    expect((await lookUp(requestId.toUpperCase())).id).toBe(requestId);
    const response = await gateway.fetch(`${path}?id=${requestId}`, {
      headers: { authorization: `Bearer ${gateway.managementKey}` },
    });
    expect(response.status).toBe(200);
  });

  it.each(['', '?id=', '?id=a&id=b'])('requires one id when given %j', async (query) => {
    expect(await refusal(query)).toEqual({
      status: 400,
      type: 'invalid_request_error',
      param: 'id',
    });
  });

  it.each(['x', 'chatcmpl-1', '%00', `${randomUUID()}%00`, randomUUID(), '1'])(
    'finds no request %s',
    async (id) => {
      expect(await refusal(`?id=${id}`)).toEqual({
        status: 404,
        type: 'not_found_error',
        param: 'id',
      });
    },
  );

  it('treats a request of another tenant like an unknown one', async () => {
    const otherId = await access.makeTenant('other');
    const otherKey = await access.makeKey({ tenantId: otherId });
    const foreign = await insertRequestLogRow(gateway.database, otherId);
    const [hidden, unknown] = await Promise.all(
      [foreign.requestId, randomUUID()].map(async (id) => {
        const response = await gateway.fetch(`${path}?id=${id}`);
        return { status: response.status, body: await response.json() };
      }),
    );
    expect(hidden).toEqual(unknown);
    expect(hidden!.status).toBe(404);

    const owned = await complete({ model: 'sandbox/echo' });
    const asOther = await gateway.fetch(`${path}?id=${owned}`, {
      headers: { authorization: `Bearer ${otherKey.plaintext}` },
    });
    expect(asOther.status).toBe(404);
  });

  it.each(['', 'Bearer sk-unknown-key-of-nobody'])('answers 401 to %j', async (authorization) => {
    const response = await gateway.fetch(`${path}?id=${randomUUID()}`, {
      headers: { authorization },
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { param: 'authorization', code: 401 } });
  });
});

/** Removes the gateway's additional fields. */
function interfaceFieldsOf(record: object): object {
  return Object.fromEntries(Object.entries(record).slice(0, 15));
}
