import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import type { ScriptedAnswer } from '../contract/contract-vendor.js';
import { reply, startScriptedServer, type ScriptedServer } from '../contract/scripted-server.js';
import { openAiVendor } from '../contract/vendors/openai.vendor.js';
import { openAccessServices, type AccessServices } from '../support/access-services.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { readAnswer, type ReadAnswer } from '../support/dialect-answers.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { loggedRequest } from '../support/logged-request.js';
import { ANSWER, CALLS, answerNumbered } from '../support/numbered-answers.js';
import { CHAT, MESSAGES, RESPONSES, GUARDRAILS } from '../support/paths.js';
import { itWithRedis, startTestRedis } from '../support/redis-server.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { readAvailable } from '../support/streamed-answer.js';
import { within } from '../support/within.js';

const EMBEDDINGS = '/v1/embeddings';
const OPENAI = 'openai/gpt-4o-mini';
const CLAUDE = 'anthropic/claude-haiku-4-5';
const DIALECTS = [CHAT, MESSAGES, RESPONSES];

type Json = Record<string, unknown>;

describe('the cache', () => {
  let vendors: ScriptedServer;
  let database: TestDatabase;
  let gateway: BootedGateway;
  let access: AccessServices;
  let vendorsEnvironment: Record<string, string>;
  let prompts = 0;
  let prompt = '';

  beforeAll(async () => {
    vendors = await startScriptedServer(() => undefined);
    database = await createTestDatabase();
    access = await openAccessServices(database.url);
    vendorsEnvironment = {
      OPENAI_API_KEY: 'sk-vendor-key-0123456789',
      OPENAI_BASE_URL: `${vendors.origin}/v1`,
      ANTHROPIC_API_KEY: 'sk-ant-vendor-key-0123456789',
      ANTHROPIC_BASE_URL: vendors.origin,
      GATEWAY_BOOTSTRAP_API_KEY: 'sk-cache-e2e-key-0123456789',
      GATEWAY_SECRET: 'a-secret-for-tests-of-enough-length',
      GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
      GATEWAY_COOLDOWN_MS: '1',
    };
    gateway = await bootGateway(vendorsEnvironment, { database });
  });
  beforeEach(() => {
    vendors.calls.length = 0;
    // Keeps tests from finding each other's answers.
    prompt = `prompt ${++prompts}`;
    answerWith(ANSWER);
  });
  afterEach(async () => {
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
  });
  afterAll(async () => {
    await access.close();
    await gateway.close();
    await vendors.close();
    await database.drop();
  });

  const answerWith = (answer: ScriptedAnswer) => answerNumbered(vendors, answer);

  function bodyOf(path: string, fields: Json = {}): Json {
    if (path === EMBEDDINGS) return { model: 'sandbox/embed', input: prompt, ...fields };
    const isStreamed = fields.stream === true;
    const conversation =
      path === RESPONSES ? { input: prompt } : { messages: [{ role: 'user', content: prompt }] };
    return {
      model: path === MESSAGES ? CLAUDE : OPENAI,
      ...conversation,
      ...(path === MESSAGES && { max_tokens: 500 }),
      ...(path === CHAT && isStreamed && { stream_options: { include_usage: true } }),
      ...fields,
    };
  }

  interface CachedCall {
    response: Response;
    answer: ReadAnswer;
    cache: [string | null, string | null];
  }

  async function ask(
    path: string,
    fields: Json = {},
    { cache = 'true', key = gateway.apiKey, through = gateway } = {},
  ): Promise<CachedCall> {
    const response = await through.post(path, bodyOf(path, fields), {
      authorization: `Bearer ${key}`,
      ...(cache !== '' && { 'x-gateway-cache': cache }),
    });
    const { headers } = response;
    const answer = await readAnswer(path, response);
    return { response, answer, cache: [headers.get('x-cache'), headers.get('x-cache-model')] };
  }

  const MISS = ['MISS', null];

  async function balance(): Promise<number> {
    const { rows } = await gateway.database.query<{ balance: number }>(
      'SELECT balance FROM accounts WHERE tenant_id = $1',
      [gateway.tenantId],
    );
    return rows[0]!.balance;
  }

  const rowOf = ({ response }: Pick<CachedCall, 'response'>) =>
    loggedRequest(gateway.database, response.headers.get('x-request-id'));

  describe.each([
    [CHAT, OPENAI, 'gpt-4o-mini'],
    [CHAT, CLAUDE, 'claude-haiku-4-5-20251001'],
    [MESSAGES, CLAUDE, 'claude-haiku-4-5-20251001'],
    [MESSAGES, OPENAI, 'gpt-4o-mini'],
    [RESPONSES, OPENAI, 'gpt-4o-mini'],
    [RESPONSES, CLAUDE, 'claude-haiku-4-5-20251001'],
  ])('of %s with %s', (path, model, upstreamModel) => {
    describe.each([
      [false, false],
      [false, true],
      [true, false],
      [true, true],
    ])('streamed first: %s, and then: %s', (first, second) => {
      it.each([
        ['text', ANSWER],
        ['tool calls', CALLS],
      ])('returns the same %s again, for free', async (_name, scripted) => {
        answerWith(scripted);
        const miss = await ask(path, { model, stream: first });
        expect(miss.cache).toEqual(MISS);
        expect(miss.answer.text).toContain('Number 1.');
        expect(miss.answer.calls).toHaveLength(scripted.toolCalls?.length ?? 0);
        const before = await balance();

        const hit = await ask(path, { model, stream: second });
        expect(hit.cache).toEqual(['HIT', expect.stringContaining(upstreamModel.slice(0, 11))]);
        // A vendor whose answer is passed through may count less than the gateway shows.
        expect(hit.answer).toMatchObject({ ...miss.answer, id: expect.any(String) });
        expect(hit.answer.id).not.toBe(miss.answer.id);
        expect(hit.response.headers.get('x-gateway-cost')).toBe(second ? null : '0');
        const provider = hit.response.headers.get('x-gateway-provider');
        expect(provider).toBe(miss.response.headers.get('x-gateway-provider'));
        expect(vendors.calls).toHaveLength(1);

        const [missRow, hitRow] = [await rowOf(miss), await rowOf(hit)];
        expect(missRow.cost).toBeGreaterThan(0);
        const { prompt_tokens, completion_tokens, finish_reason, usage_source } = missRow;
        expect(hitRow).toMatchObject({
          model,
          provider,
          outcome: 'completed',
          cost: 0,
          streamed: second,
          prompt_tokens,
          completion_tokens,
          finish_reason,
          usage_source,
        });
        expect(await balance()).toBe(before);
      });
    });
  });

  it.each(['sandbox/embed', 'openai/text-embedding-3-small'])(
    'returns the same vectors of %s again, for free',
    async (model) => {
      const post = async (fields: Json = {}) => {
        const body = bodyOf(EMBEDDINGS, { model, ...fields });
        const response = await gateway.post(EMBEDDINGS, body, { 'x-gateway-cache': '60' });
        const list = (await response.json()) as { data: unknown; usage: unknown };
        return { response, list, cache: response.headers.get('x-cache') };
      };
      const miss = await post();
      const before = await balance();
      const hit = await post({ user: 'ann' });
      expect([miss.cache, hit.cache]).toEqual(['MISS', 'HIT']);
      expect(hit.list).toEqual(miss.list);
      expect(hit.response.headers.get('x-cache-model')).toBe(model.split('/')[1]);
      expect(hit.response.headers.get('x-gateway-cost')).toBe('0');
      expect(await balance()).toBe(before);
      const paid = await rowOf(miss);
      expect(paid.cost).toBeGreaterThan(0);
      expect(paid.vendor_cost).toBe(paid.cost);
      const free = { cost: 0, vendor_cost: 0, endpoint: 'embeddings', model };
      expect(await rowOf(hit)).toMatchObject(free);
      expect((await post({ encoding_format: 'base64' })).cache).toBe('MISS');
      expect((await post({ dimensions: 8 })).cache).toBe('MISS');
      expect((await post({ input: [prompt] })).cache).toBe('MISS');
    },
  );

  describe('distinguishes requests', () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    it.each<[string, Json]>([
      ['max_tokens', { max_tokens: 7 }],
      ['temperature', { temperature: 0 }],
      ['top_p', { top_p: 0.5 }],
      ['stop', { stop: ['x'] }],
      ['seed', { seed: 7 }],
      ['tools', { tools }],
      ['tool_choice', { tools, tool_choice: 'none' }],
      ['response_format', { response_format: { type: 'json_object' } }],
      ['models', { models: [OPENAI, CLAUDE] }],
      ['provider', { provider: { only: ['openai'] } }],
      ['a field unknown to the gateway', { later_field: 1 }],
    ])('with another %s', async (_name, fields) => {
      await ask(CHAT);
      const other = await ask(CHAT, fields);
      expect(other.cache).toEqual(MISS);
      expect(other.answer.text).toContain('Number 2.');
      expect((await ask(CHAT, fields)).cache[0]).toBe('HIT');
    });

    it('of another dialect or another tenant', async () => {
      for (const path of [CHAT, RESPONSES]) {
        expect((await ask(path, { model: 'sandbox/echo' })).cache[0]).toBe('MISS');
      }
      const tenantId = await access.makeTenant(`tenant of ${prompt}`);
      await access.grants.grant(tenantId, 1_000_000);
      const { plaintext: key } = await access.makeKey({ tenantId });
      expect((await ask(CHAT, { model: 'sandbox/echo' }, { key })).cache).toEqual(MISS);
      expect((await ask(CHAT, { model: 'sandbox/echo' }, { key })).cache[0]).toBe('HIT');
    });
  });

  it.each(DIALECTS)('is shared by end users: %s', async (path) => {
    await ask(path);
    const metadata = path === MESSAGES ? { user_id: 'ann' } : { a: 'b' };
    const fields = {
      metadata,
      trace: { trace_name: 'x' },
      ...(path !== MESSAGES && { user: 'a' }),
    };
    expect((await ask(path, fields)).cache[0]).toBe('HIT');
  });

  it.each(DIALECTS)('is not used by requests without the option: %s', async (path) => {
    for (const cache of ['', 'false']) {
      expect((await ask(path, {}, { cache })).cache).toEqual(MISS);
    }
    expect((await ask(path)).cache).toEqual(MISS);
    expect((await ask(path, {}, { cache: '' })).cache).toEqual(MISS);
    expect(vendors.calls).toHaveLength(4);
  });

  it('expires answers', async () => {
    await until(async () => {
      await ask(CHAT, {}, { cache: '1' });
      return (await ask(CHAT, {}, { cache: '1' })).cache[0] === 'HIT';
    });
    await wait(1_050);
    expect((await ask(CHAT, {}, { cache: '86400' })).cache).toEqual(MISS);
  });

  it.each([CHAT, MESSAGES, RESPONSES, EMBEDDINGS])('rejects a bad option: %s', async (path) => {
    for (const cache of ['yes', '0', '86401', '1.5']) {
      const response = await gateway.post(path, bodyOf(path), { 'x-gateway-cache': cache });
      expect(response.status).toBe(400);
      const { error } = (await response.json()) as { error: Json };
      expect(error).toMatchObject({ type: 'invalid_request_error', message: expect.any(String) });
      if (path !== MESSAGES) expect(error.param).toBe('x-gateway-cache');
      expect(JSON.stringify(error)).toContain('X-Gateway-Cache');
    }
    expect(vendors.calls).toEqual([]);
  });

  it('does not store failures, filtered answers and interrupted answers', async () => {
    vendors.script = reply(400, { 'content-type': 'application/json' }, Buffer.from('{}'));
    const refused = await gateway.post(CHAT, bodyOf(CHAT), { 'x-gateway-cache': 'true' });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    answerWith({ ...ANSWER, withoutFinish: true });
    const cut = await gateway.post(CHAT, bodyOf(CHAT, { stream: true }), {
      'x-gateway-cache': 'true',
    });
    expect((await readAvailable(cut)).body).toContain('"error"');
    answerWith({ ...ANSWER, finish: 'content_filter' });
    for (const stream of [true, false, true]) {
      expect((await ask(CHAT, { stream })).cache).toEqual(MISS);
    }
    answerWith({ ...ANSWER, finish: 'length' });
    expect((await ask(CHAT)).cache).toEqual(MISS);
    const hit = await ask(CHAT);
    expect([hit.cache[0], hit.answer.finish]).toEqual(['HIT', 'length']);
  });

  it('does not store answers whose caller disconnected', async () => {
    const answering = vendors.script;
    vendors.script = (_call, response) => {
      const { headers, pieces } = openAiVendor.stream(ANSWER);
      response.writeHead(200, headers);
      // The rest is never sent.
      for (const piece of pieces.slice(0, 3)) response.write(piece);
    };
    const left = new AbortController();
    const response = await gateway.fetch(CHAT, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-cache': 'true' },
      body: JSON.stringify(bodyOf(CHAT, { stream: true })),
      signal: left.signal,
    });
    await response.body!.getReader().read();
    left.abort();
    vendors.script = answering;
    expect((await ask(CHAT)).cache).toEqual(MISS);
  });

  it('answers without credits, and counts for the rate limit', async () => {
    const tenantId = await access.makeTenant(`poor ${prompt}`);
    const { plaintext: key } = await access.makeKey({ tenantId, rateLimitPerMinute: 3 });
    await access.grants.grant(tenantId, 1_000);
    const post = (content: string) =>
      gateway.post(
        CHAT,
        { model: OPENAI, messages: [{ role: 'user', content }], max_tokens: 1_500 },
        { authorization: `Bearer ${key}`, 'x-gateway-cache': 'true' },
      );
    expect((await post('first')).status).toBe(200);
    // 450 of the 1,000 credits are spent: a hold would not fit, but a hit needs none.
    const hit = await post('first');
    expect([hit.status, hit.headers.get('x-cache')]).toEqual([200, 'HIT']);
    expect((await post('second')).status).toBe(402);
    expect((await post('first')).status).toBe(429);
  });

  it('gives each stored response its own id, conversation and metadata', async () => {
    const miss = await ask(RESPONSES, { metadata: { n: '1' } });
    const hit = await ask(RESPONSES, { metadata: { n: '2' } });
    expect(hit.cache[0]).toBe('HIT');
    for (const [{ answer }, n] of [
      [miss, '1'],
      [hit, '2'],
    ] as const) {
      const stored = await gateway.fetch(`${RESPONSES}/${answer.id}`);
      expect(await stored.json()).toMatchObject({
        id: answer.id,
        metadata: { n },
        output_text: miss.answer.text,
      });
    }
    const next = await ask(RESPONSES, { input: 'next', previous_response_id: hit.answer.id });
    expect(next.cache).toEqual(MISS);
    expect(String(vendors.calls.at(-1)!.body)).toContain('Number 1.');
  });

  describe('with guardrails', () => {
    async function guard(fields: Json): Promise<() => Promise<unknown>> {
      const rules = [{ type: 'keyword', words: ['Number'] }];
      const response = await gateway.post(GUARDRAILS, { name: 'none', rules, ...fields });
      expect(response.status).toBe(201);
      const { id } = (await response.json()) as { id: string };
      return () => gateway.fetch(`${GUARDRAILS}/${id}`, { method: 'DELETE' });
    }
    const post = (path: string, stream: boolean): Promise<Response> =>
      gateway.post(path, bodyOf(path, { stream }), { 'x-gateway-cache': 'true' });

    it.each(DIALECTS)('withholds a hit like a new answer: %s', async (path) => {
      await ask(path);
      const remove = await guard({ applies_to: ['output'] });
      for (const stream of [false, true]) {
        const response = await post(path, stream);
        const text = await response.text();
        expect(text).toContain('withheld the answer');
        expect(text).not.toContain('Number');
        expect((await rowOf({ response })).cost).toBe(0);
      }
      await remove();
      expect((await ask(path)).cache[0]).toBe('HIT');
      expect(vendors.calls).toHaveLength(1);
    });

    it.each(DIALECTS)('does not store a withheld answer: %s', async (path) => {
      const remove = await guard({ applies_to: ['output'] });
      for (const stream of [false, true]) await (await post(path, stream)).text();
      await remove();
      expect((await ask(path)).cache).toEqual(MISS);
      // A guarded response is sent as a chat; the last one is a response again.
      expect(vendors.calls).toHaveLength(3);
    });

    it('blocks a prompt whose answer is stored', async () => {
      await ask(CHAT);
      const remove = await guard({ rules: [{ type: 'keyword', words: [prompt] }] });
      const response = await post(CHAT, false);
      expect(response.status).toBe(403);
      await remove();
    });

    it('flags a hit like a new answer', async () => {
      await ask(CHAT);
      const remove = await guard({ applies_to: ['output'], action: 'flag' });
      const hit = await ask(CHAT);
      expect(hit.cache[0]).toBe('HIT');
      expect(hit.response.headers.get('x-guardrail-flagged')).toMatch(/-/);
      expect(await rowOf(hit)).toMatchObject({ flagged: true });
      await remove();
    });
  });

  it('counts hits and misses', async () => {
    const read = async (): Promise<number[]> => {
      const text = await (await gateway.fetch('/metrics')).text();
      return ['hit', 'miss'].map((result) =>
        Number(
          new RegExp(`gateway_cache_lookups_total\\{result="${result}"\\} (\\d+)`).exec(text)?.[1],
        ),
      );
    };
    await ask(CHAT);
    const [hits, misses] = await read();
    await ask(CHAT);
    await ask(CHAT, {}, { cache: '' });
    await ask(CHAT, { seed: 1 });
    expect(await read()).toEqual([hits! + 1, misses! + 1]);
    expect(await (await gateway.fetch('/metrics')).text()).toMatch(/gateway_cache_bytes [1-9]/);
  });

  itWithRedis('is shared through Redis, and merely empty during an outage', async () => {
    const redis = await startTestRedis();
    const environment = {
      ...vendorsEnvironment,
      REDIS_URL: redis.url,
      GATEWAY_CACHE_MAX_BYTES_PER_TENANT: '100000',
      AZURE_OPENAI_ENDPOINT: vendors.origin,
      AZURE_OPENAI_API_KEY: 'azure-vendor-key-0123456789',
    };
    const one = await bootGateway(environment, { database });
    const two = await bootGateway(environment, { database });
    try {
      expect((await ask(CHAT, {}, { through: one })).cache).toEqual(MISS);
      // On a stalled machine, Redis seems to hang and is not used for a second.
      for (let seed = 0; ; seed++) {
        await ask(CHAT, { seed }, { through: one });
        const { cache } = await ask(CHAT, { seed, stream: true }, { through: two });
        if (cache[0] === 'MISS' && seed < 2) await wait(1_100);
        else {
          expect(cache[0]).toBe('HIT');
          break;
        }
      }
      // Free embeddings of several times the tenant's share, through both instances.
      for (let number = 0; number < 20; number++) {
        const input = Array.from({ length: 20 }, (_, at) => `${prompt} ${number} ${at}`);
        const through = number % 2 === 0 ? one : two;
        const body = bodyOf(EMBEDDINGS, { input });
        await (await through.post(EMBEDDINGS, body, { 'x-gateway-cache': 'true' })).text();
      }
      let bytes = 0;
      await until(async () => {
        const figures = await (await two.fetch('/metrics')).text();
        bytes = Number(/^gateway_cache_bytes (\d+)/m.exec(figures)?.[1] ?? 0);
        return bytes > 40_000;
      });
      expect(bytes).toBeLessThanOrEqual(100_000);
      // The route of a conversation whose prompt is cached at the vendor is shared, too.
      const turn = async (through: BootedGateway, talk: number): Promise<string | null> => {
        const content = `${prompt} ${talk} ${'Rules. '.repeat(800)}`;
        const answer = await through.post(
          CHAT,
          bodyOf(CHAT, { messages: [{ role: 'user', content }] }),
        );
        await answer.text();
        return answer.headers.get('x-gateway-provider');
      };
      const wellScript = vendors.script;
      for (let talk = 1; ; talk++) {
        vendors.script = (call, response) => {
          if (call.path.startsWith('/openai/')) return wellScript(call, response);
          response.writeHead(500).end('{}');
        };
        expect(await turn(one, talk)).toBe('azure');
        vendors.script = wellScript;
        await wait(300 * talk);
        if ((await turn(two, talk)) === 'azure') break;
        expect(talk).toBeLessThan(10);
      }
      await redis.stop();
      for (let times = 0; times < 3; times++) {
        expect((await within(30_000, ask(CHAT, {}, { through: two }))).cache).toEqual(MISS);
      }
    } finally {
      await one.close();
      await two.close();
      await redis.stop();
    }
  });
});
