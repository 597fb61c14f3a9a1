import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openAccessServices, type AccessServices } from '../support/access-services.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import {
  politeAnswer,
  startFakeOpenAi,
  type FakeAnswer,
  type FakeOpenAi,
} from '../support/fake-openai.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const MODEL_MAX = 40_000;
/** "Hello" is 2 tokens and the message 8, at a credit each. */
const PROMPT = 10;
/** Output tokens that every hold covers, at a credit each. */
const LEAST = 4_096;
const REQUESTS = 80;
/** The number of minimum holds that the credits cover. */
const AFFORDED = 20;
const HELLO = [{ role: 'user', content: 'Hello' }];

let fake: FakeOpenAi;
let files: OperatorFiles;
let testDatabase: TestDatabase;
let gateway: BootedGateway;
let access: AccessServices;

beforeAll(async () => {
  fake = await startFakeOpenAi();
  const price = { prompt: '0.000001', completion: '0.000001' };
  const expensive = { prompt: '0.000001', completion: '0.000008' };
  files = await writeOperatorFiles(
    {
      one: fake.baseUrl,
      two: { base_url: fake.baseUrl, settings: { outputLimitField: 'max_completion_tokens' } },
    },
    [
      { id: 'one/a', max_completion_tokens: MODEL_MAX, pricing: price },
      { id: 'one/dear', max_completion_tokens: MODEL_MAX, pricing: expensive },
      { id: 'two/a', max_completion_tokens: MODEL_MAX, pricing: price },
    ],
  );
  testDatabase = await createTestDatabase();
  gateway = await bootGateway(files.environment, { database: testDatabase });
  access = await openAccessServices(testDatabase.url);
});
afterAll(async () => {
  await access.close();
  await gateway.close();
  await fake.close();
  await files.remove();
  await testDatabase.drop();
});
beforeEach(() => {
  fake.calls.length = 0;
  fake.answer = greedyAnswer;
});

/** Generates as much as it may. */
const greedyAnswer: FakeAnswer = async (call, response) => {
  await pause(5 + (fake.calls.length % 7) * 3);
  const { max_tokens: old, max_completion_tokens: limit = old, n = 1 } = call.body;
  const completionTokens = Number(limit ?? MODEL_MAX) * Number(n);
  await politeAnswer({ promptTokens: PROMPT, completionTokens, finishReason: 'length' })(
    call,
    response,
  );
};

interface Account {
  tenantId: string;
  key: string;
}

let accounts = 0;

async function openAccount(
  credits: number,
  limits: { key?: number; tenant?: number } = {},
): Promise<Account> {
  const tenantId = await access.makeTenant(`account ${++accounts}`);
  await access.grants.grant(tenantId, credits);
  if (limits.tenant !== undefined)
    await access.tenants.setMonthlySpendLimit(tenantId, limits.tenant);
  const { plaintext } = await access.makeKey({
    tenantId,
    rateLimitPerMinute: 100_000,
    ...(limits.key !== undefined && { monthlySpendLimit: limits.key }),
  });
  return { tenantId, key: plaintext };
}

function ask(
  { key }: Account,
  rest: object = {},
  path = '/v1/chat/completions',
  instance = gateway,
): Promise<Response> {
  const body = { model: 'one/a', messages: HELLO, ...rest };
  return instance.post(path, body, { authorization: `Bearer ${key}` });
}

async function booksOf({ tenantId }: Account) {
  const { rows } = await gateway.database.query<{
    balance: number;
    spent: number;
    shortfalls: number;
    served: number;
  }>(
    `SELECT balance, spent,
       (SELECT count(*) FROM ledger_entries WHERE tenant_id = $1 AND kind = 'shortfall') AS shortfalls,
       (SELECT count(*) FROM request_logs WHERE tenant_id = $1 AND outcome = 'completed') AS served
     FROM accounts WHERE tenant_id = $1`,
    [tenantId],
  );
  return rows[0]!;
}

/** Sends concurrent requests, streamed and whole, to the instances in turn, and returns the results. */
async function crowd(account: Account, requests = REQUESTS, instances = [gateway]) {
  const responses = await Promise.all(
    Array.from({ length: requests }, (_, index) => {
      const stream = index % 4 < 2;
      return ask(account, { stream }, undefined, instances[index % instances.length]);
    }),
  );
  await Promise.all(responses.map((response) => response.text()));
  const others = responses.filter(({ status }) => status !== 200 && status !== 402);
  expect(others.map(({ status }) => status)).toEqual([]);
  return booksOf(account);
}

describe('requests without a limit to a vendor that generates as much as it may', () => {
  it(`never cost more than the credits: ${REQUESTS} at once with credits for ${AFFORDED}`, async () => {
    const credits = AFFORDED * (PROMPT + LEAST);
    const books = await crowd(await openAccount(credits));
    expect(books).toMatchObject({ shortfalls: 0 });
    expect(books.spent).toBeLessThanOrEqual(credits);
    expect(books.spent + books.balance).toBe(credits);
    // The first holds exceed the minimum, so not quite all of these are admitted.
    expect(books.served).toBeGreaterThanOrEqual(AFFORDED * 0.7);
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
  });

  it('never cost more than the credits at two instances at once', async () => {
    const other = await bootGateway(files.environment, { database: testDatabase });
    try {
      const credits = AFFORDED * (PROMPT + LEAST);
      const books = await crowd(await openAccount(credits), REQUESTS, [gateway, other]);
      expect(books).toMatchObject({ shortfalls: 0 });
      expect(books.spent).toBeLessThanOrEqual(credits);
      expect(books.spent + books.balance).toBe(credits);
      expect(books.served).toBeGreaterThanOrEqual(AFFORDED * 0.7);
      expect(await findLedgerFaults(gateway.database)).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it.each(['key', 'tenant'] as const)(
    'never cost more than the monthly limit of the %s leaves',
    async (scope) => {
      const limit = 10 * (PROMPT + LEAST);
      const books = await crowd(await openAccount(1_000_000_000, { [scope]: limit }), 60);
      expect(books).toMatchObject({ shortfalls: 0 });
      expect(books.spent).toBeLessThanOrEqual(limit);
      expect(books.served).toBeGreaterThanOrEqual(7);
    },
  );

  it('are refused when a monthly limit leaves less than the minimum, with what would fit', async () => {
    const account = await openAccount(1_000_000_000, { key: 2_000 });
    const response = await ask(account);
    expect(response.status).toBe(402);
    const { error } = (await response.json()) as { error: { message: string; param: string } };
    expect(error.param).toBe('monthly_spend_limit');
    expect(error.message).toContain(`${PROMPT + LEAST} credits`);
    expect(error.message).toContain('has 2000 left');
    expect(error.message).toContain('`max_tokens`: 1990');
    expect(fake.calls).toEqual([]);
    expect((await ask(account, { max_tokens: 1_990 })).status).toBe(200);
    expect((await booksOf(account)).spent).toBe(2_000);
  });
});

describe('the limit set by the gateway', () => {
  /** A 32nd of the credits is 10,000. */
  const CREDITS = 320_000;
  const LIMIT = 10_000;

  it.each([
    ['a chat', '/v1/chat/completions', {}, 'max_tokens'],
    ['a streamed chat', '/v1/chat/completions', { stream: true }, 'max_tokens'],
    [
      'a chat for another server',
      '/v1/chat/completions',
      { model: 'two/a' },
      'max_completion_tokens',
    ],
    ['a response', '/v1/responses', { messages: undefined, input: 'Hello' }, 'max_tokens'],
    [
      'a streamed response',
      '/v1/responses',
      { messages: undefined, input: 'Hello', stream: true },
      'max_tokens',
    ],
  ])('of %s is sent to the vendor and named in the answer', async (_, path, rest, field) => {
    const account = await openAccount(CREDITS);
    const response = await ask(account, rest, path);
    expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
    expect(response.headers.get('x-gateway-output-limit')).toBe(String(LIMIT));
    expect(fake.calls.map(({ body }) => body[field])).toEqual([LIMIT]);
    expect(await booksOf(account)).toMatchObject({ spent: PROMPT + LIMIT, shortfalls: 0 });
  });

  it('is shared by the requested choices', async () => {
    const response = await ask(await openAccount(CREDITS), { n: 2 });
    expect(response.headers.get('x-gateway-output-limit')).toBe(String(LIMIT / 2));
    expect(fake.calls[0]!.body).toMatchObject({ n: 2, max_tokens: LIMIT / 2 });
  });

  it('is omitted when the credits cover the longest answer', async () => {
    const response = await ask(await openAccount(32 * MODEL_MAX));
    expect(response.headers.has('x-gateway-output-limit')).toBe(false);
    expect(fake.calls[0]!.body).not.toHaveProperty('max_tokens');
    expect(response.headers.get('x-gateway-cost')).toBe(String(PROMPT + MODEL_MAX));
  });

  it('is omitted when the caller sets a limit', async () => {
    const account = await openAccount(CREDITS);
    for (const max_tokens of [7, 20_000]) {
      const response = await ask(account, { max_tokens });
      expect(response.headers.has('x-gateway-output-limit')).toBe(false);
      expect(fake.calls.at(-1)!.body.max_tokens).toBe(max_tokens);
    }
    const message = await ask(account, { max_tokens: 9 }, '/v1/messages');
    expect(message.status).toBe(200);
    expect(message.headers.has('x-gateway-output-limit')).toBe(false);
  });

  it('is lower on a more expensive route, within the same hold', async () => {
    const account = await openAccount(CREDITS);
    fake.answer = (call, response) => {
      if (call.body.model === 'dear') return greedyAnswer(call, response);
      response.writeHead(503, { 'retry-after': '60' });
      response.end();
    };
    // 4,096 tokens at 8 credits exceed the hold, which grows by exactly the difference.
    const response = await ask(account, { model: undefined, models: ['one/a', 'one/dear'] });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-gateway-output-limit')).toBe(String(LEAST));
    expect(fake.calls.at(-1)!.body).toMatchObject({ model: 'dear', max_tokens: LEAST });
    expect(await booksOf(account)).toMatchObject({ spent: PROMPT + LEAST * 8, shortfalls: 0 });
  });

  it('is named when a request is refused, or that not even the prompt fits', async () => {
    const account = await openAccount(1_000);
    const messageOf = async (rest: object): Promise<string> => {
      const response = await ask(account, rest);
      expect(response.status).toBe(402);
      return ((await response.json()) as { error: { message: string } }).error.message;
    };
    expect(await messageOf({})).toMatch(
      /needs 4106 credits, and 1000 are available.* `max_tokens`: 990/,
    );
    expect(await messageOf({ max_tokens: 2_000, n: 3 })).toMatch(/needs 6010 .*`max_tokens`: 330/);
    const long = [{ role: 'user', content: 'x'.repeat(6_000) }];
    expect(await messageOf({ messages: long })).toContain('Shorten the prompt');
  });
});

describe('max_cost', () => {
  const FIT = { max_cost: 110, max_cost_mode: 'fit' };

  async function refusalOf(response: Response) {
    const { error } = (await response.json()) as { error: Record<string, string> };
    return {
      status: response.status,
      message: error.message,
      param: error.param,
      type: error.type,
    };
  }

  it.each([
    ['a chat', '/v1/chat/completions', { max_completion_tokens: 9_000 }],
    ['a streamed chat', '/v1/chat/completions', { stream: true }],
    ['a chat for another server', '/v1/chat/completions', { model: 'two/a', max_tokens: 9_000 }],
    ['a legacy completion', '/v1/completions', { messages: undefined, prompt: 'Hello' }],
    ['a message', '/v1/messages', { max_tokens: 9_000 }],
    ['a streamed message', '/v1/messages', { max_tokens: 9_000, stream: true }],
    ['a response', '/v1/responses', { messages: undefined, input: 'Hello' }],
    [
      'a streamed response',
      '/v1/responses',
      { messages: undefined, input: 'Hello', max_output_tokens: 9_000, stream: true },
    ],
  ])('limits the length of %s', async (_, path, rest) => {
    const account = await openAccount(1_000_000_000);
    const response = await ask(account, { ...rest, ...FIT }, path);
    expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
    expect(response.headers.get('x-gateway-output-limit')).toBe('100');
    const { body } = fake.calls[0]!;
    expect([body.max_tokens, body.max_completion_tokens].filter(Boolean)).toEqual([100]);
    expect(Object.keys(body).filter((field) => field.startsWith('max_cost'))).toEqual([]);
    expect(await booksOf(account)).toMatchObject({ spent: 110, shortfalls: 0 });
  });

  it('applies in the background too, and by headers', async () => {
    const account = await openAccount(1_000_000_000);
    const taken = await gateway.post(
      '/v1/responses',
      { model: 'one/a', input: 'Hello', background: true },
      {
        authorization: `Bearer ${account.key}`,
        'x-gateway-max-cost': '110',
        'x-gateway-max-cost-mode': 'fit',
      },
    );
    expect(taken.status).toBe(200);
    while ((await booksOf(account)).served === 0) await pause(50);
    expect(fake.calls.map(({ body }) => body.max_tokens)).toEqual([100]);
    expect((await booksOf(account)).spent).toBe(110);
  });

  it('excludes routes that could cost more, and says what would suffice', async () => {
    const account = await openAccount(1_000_000_000);
    const chain = { model: undefined, models: ['one/dear', 'one/a'], max_tokens: 100 };
    expect((await ask(account, { ...chain, max_cost: 110 })).status).toBe(200);
    expect(fake.calls.map(({ body }) => body.model)).toEqual(['a']);
    expect(await refusalOf(await ask(account, { ...chain, max_cost: 109 }))).toMatchObject({
      status: 402,
      type: 'budget_exceeded',
      param: 'max_cost',
      message: expect.stringContaining('Send `max_cost`: 110'),
    });
    const tiny = await refusalOf(await ask(account, { max_cost: 10, max_cost_mode: 'fit' }));
    expect(tiny).toMatchObject({ status: 402, message: expect.stringContaining('`max_cost`: 11') });
    // Responses vendors accept no limit below 16 tokens.
    const input = { messages: undefined, input: 'Hello', max_cost_mode: 'fit' };
    const short = await ask(account, { ...input, max_cost: 25 }, '/v1/responses');
    expect((await refusalOf(short)).message).toContain('`max_cost`: 26');
    expect(fake.calls).toHaveLength(1);
    expect(await booksOf(account)).toMatchObject({ spent: 110, served: 1 });
  });

  it('is compared with the cost of a dense prompt, which exceeds a third of its bytes', async () => {
    const account = await openAccount(1_000_000_000);
    const content = createHash('shake256', { outputLength: 4_500 }).update('x').digest('base64');
    const dense = { messages: [{ role: 'user', content }], max_tokens: 100 };
    expect((await ask(account, dense)).status).toBe(200);
    const refused = await ask(account, { ...dense, max_cost: content.length / 2 });
    expect(await refusalOf(refused)).toMatchObject({ status: 402, param: 'max_cost' });
    expect(fake.calls).toHaveLength(1);
  });

  it('limits the charge, whatever the vendor reports; the operator pays the rest', async () => {
    const account = await openAccount(1_000_000_000);
    fake.answer = politeAnswer({ promptTokens: PROMPT, completionTokens: MODEL_MAX });
    const responses = await Promise.all(
      [false, true].map((stream) => ask(account, { ...FIT, stream, max_tokens: 50 })),
    );
    const [whole] = responses;
    expect(whole!.headers.get('x-gateway-cost')).toBe('110');
    await Promise.all(responses.map((response) => response.text()));
    expect(fake.calls.map(({ body }) => body.max_tokens)).toEqual([50, 50]);
    expect(await booksOf(account)).toMatchObject({ spent: 220, shortfalls: 2 });
    const id = whole!.headers.get('x-request-id')!;
    const receipt = await gateway.fetch(`/v1/customer/receipts/${id}`, {
      headers: { authorization: `Bearer ${account.key}` },
    });
    expect(await receipt.json()).toMatchObject({
      receipt: {
        charge: { rounded: PROMPT + MODEL_MAX, shortfall: PROMPT + MODEL_MAX - 110, cost: 110 },
      },
    });
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
  });

  it('limits a more expensive fallback too', async () => {
    const account = await openAccount(1_000_000_000);
    fake.answer = (call, response) => {
      if (call.body.model === 'dear') return greedyAnswer(call, response);
      response.writeHead(503, { 'retry-after': '60' });
      response.end();
    };
    const chain = { model: undefined, models: ['one/a', 'one/dear'] };
    const response = await ask(account, { ...chain, ...FIT });
    expect(response.headers.get('x-gateway-output-limit')).toBe('12');
    expect(fake.calls.at(-1)!.body).toMatchObject({ model: 'dear', max_tokens: 12 });
    expect(await booksOf(account)).toMatchObject({ spent: PROMPT + 12 * 8, shortfalls: 0 });
  });

  it('limits the holds of concurrent requests', async () => {
    const account = await openAccount(10 * 110);
    const responses = await Promise.all(Array.from({ length: 30 }, () => ask(account, FIT)));
    const served = responses.filter(({ status }) => status === 200).length;
    expect(responses.every(({ status }) => status === 200 || status === 402)).toBe(true);
    expect(served).toBeGreaterThanOrEqual(10);
    expect(await booksOf(account)).toMatchObject({ spent: served * 110, shortfalls: 0 });
  });

  it.each<[object, Record<string, string>, string]>([
    [{ max_cost: 0 }, {}, 'max_cost'],
    [{ max_cost: 1.5 }, {}, 'max_cost'],
    [{ max_cost: '5' }, {}, 'max_cost'],
    [{ max_cost: 2 ** 60 }, {}, 'max_cost'],
    [{ max_cost: 5, max_cost_mode: 'loose' }, {}, 'max_cost_mode'],
    [{ max_cost_mode: 'fit' }, {}, 'max_cost_mode'],
    [{}, { 'x-gateway-max-cost': '-1' }, 'x-gateway-max-cost'],
    [{}, { 'x-gateway-max-cost': '9999999999999999' }, 'x-gateway-max-cost'],
    [{}, { 'x-gateway-max-cost': '5', 'x-gateway-max-cost-mode': 'x' }, 'x-gateway-max-cost-mode'],
    [{}, { 'x-gateway-max-cost-mode': 'fit' }, 'x-gateway-max-cost-mode'],
  ])('rejects %j with the headers %j', async (rest, headers, param) => {
    const { key } = await openAccount(1_000);
    const body = { model: 'one/a', messages: HELLO, ...rest };
    const response = await gateway.post('/v1/chat/completions', body, {
      authorization: `Bearer ${key}`,
      ...headers,
    });
    expect(await refusalOf(response)).toMatchObject({ status: 400, param });
    expect(fake.calls).toEqual([]);
  });
});

describe('POST /v1/quote', () => {
  interface Quoted {
    endpoint: string;
    available: number;
    answer_cache: string;
    routes: {
      model: string;
      provider: string;
      cost: { least: number; likely: number; worst: number; worst_usd: string };
      tokens: Record<string, number>;
      output_limit: number | null;
      likely_by: string;
    }[];
    left_out: { model: string; provider: string; reason: string }[];
    refusal: Record<string, unknown> | null;
  }

  async function quoteOf(
    { key }: Account,
    body: object,
    query = '',
    headers: Record<string, string> = {},
  ): Promise<Quoted> {
    const response = await gateway.post(`/v1/quote${query}`, body, {
      authorization: `Bearer ${key}`,
      ...headers,
    });
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.anything()]);
    return JSON.parse(text) as Quoted;
  }

  it.each<[string, object, number]>([
    ['without a limit', {}, 320_000],
    ['without a limit, with many credits', {}, 1_000_000_000],
    ['with a limit', { max_tokens: 70, n: 3 }, 320_000],
    ['with max_cost_mode fit', { max_cost: 110, max_cost_mode: 'fit', max_tokens: 9_000 }, 320_000],
    ['over a chain', { model: undefined, models: ['one/dear', 'one/a'] }, 320_000],
  ])('returns the later hold of a request %s', async (_, rest, credits) => {
    const account = await openAccount(credits);
    const { routes, available, refusal } = await quoteOf(account, {
      ...{ model: 'one/a', messages: HELLO },
      ...rest,
    });
    expect({ available, refusal }).toEqual({ available: credits, refusal: null });
    let held: number[] = [];
    fake.answer = async (call, response) => {
      const { rows } = await gateway.database.query<{ amount: number }>(
        'SELECT amount FROM holds WHERE tenant_id = $1',
        [account.tenantId],
      );
      held = rows.map(({ amount }) => amount);
      await greedyAnswer(call, response);
    };
    const response = await ask(account, rest);
    const [first] = routes;
    expect(held).toEqual([first!.cost.worst]);
    const limit = response.headers.get('x-gateway-output-limit');
    expect(first!.output_limit).toBe(limit === null ? null : Number(limit));
    const charged = Number(response.headers.get('x-gateway-cost'));
    expect(charged).toBeGreaterThanOrEqual(first!.cost.least);
    expect(charged).toBeLessThanOrEqual(first!.cost.worst);
  });

  it('bounds the cost of the sandbox on every endpoint, and leaves no trace', async () => {
    const account = await openAccount(1_000_000);
    const text = 'How many of the words of this sentence come back, and what do they cost?';
    const messages = [{ role: 'user', content: text }];
    const calls: [string, string, string, object][] = [
      ['', 'chat', '/v1/chat/completions', { model: 'sandbox/echo', messages }],
      [
        '?endpoint=completions',
        'completions',
        '/v1/completions',
        { model: 'sandbox/words', prompt: text },
      ],
      [
        '?endpoint=messages',
        'messages',
        '/v1/messages',
        { model: 'sandbox/echo', messages, max_tokens: 99 },
      ],
      ['?endpoint=responses', 'responses', '/v1/responses', { model: 'sandbox/echo', input: text }],
      ['', 'embeddings', '/v1/embeddings', { model: 'sandbox/embed', input: [text, text] }],
      ['', 'images', '/v1/images/generations', { model: 'sandbox/image', prompt: text, n: 2 }],
    ];
    for (const [query, endpoint, path, body] of calls) {
      const before = await booksOf(account);
      const quote = await quoteOf(account, body, query);
      expect(quote).toMatchObject({
        object: 'quote',
        endpoint,
        answer_cache: 'off',
        refusal: null,
      });
      expect(await booksOf(account)).toEqual(before);
      const { cost } = quote.routes[0]!;
      expect(cost.least).toBeLessThanOrEqual(cost.likely);
      expect(cost.likely).toBeLessThanOrEqual(cost.worst);
      const response = await ask(account, { messages: undefined, ...body }, path);
      expect([path, response.status]).toEqual([path, 200]);
      await response.text();
      const charged = (await booksOf(account)).spent - before.spent;
      expect([path, charged >= cost.least, charged <= cost.worst]).toEqual([path, true, true]);
    }
    for (const body of [
      { model: 'sandbox/speech', input: text, voice: 'alloy' },
      { model: 'sandbox/video', prompt: text, seconds: 4 },
    ]) {
      expect((await quoteOf(account, body)).routes[0]).toMatchObject({ likely_by: 'request' });
    }
    const job = await quoteOf(account, { model: 'sandbox/image', prompt: text }, '?endpoint=jobs');
    expect(job.routes).toHaveLength(1);
    const { rows } = await gateway.database.query<{ endpoint: string }>(
      'SELECT endpoint FROM request_logs WHERE tenant_id = $1',
      [account.tenantId],
    );
    expect(rows).toHaveLength(calls.length);
  });

  it('lists excluded routes, and how the call would be refused', async () => {
    const account = await openAccount(1_000);
    const chain = { models: ['one/dear', 'two/a', 'one/a'], messages: HELLO, max_tokens: 100 };
    const cheap = await quoteOf(account, {
      ...chain,
      max_cost: 110,
      provider: { ignore: ['two'] },
    });
    expect(cheap.routes).toMatchObject([
      { model: 'one/a', cost: { worst: 110, worst_usd: '0.000110' }, output_limit: null },
    ]);
    expect(cheap.left_out).toEqual([
      { model: 'two/a', provider: 'two', account: null, reason: 'preferences' },
      { model: 'one/dear', provider: 'one', account: null, reason: 'max_cost' },
    ]);
    const none = await quoteOf(account, { ...chain, max_cost: 1 });
    expect(none).toMatchObject({ routes: [], refusal: { status: 402, param: 'max_cost' } });
    expect(none.left_out.map(({ reason }) => reason)).toEqual(Array(3).fill('max_cost'));
    const one = { ...chain, provider: { allow_fallbacks: false } };
    const alone = await quoteOf(account, one);
    // An earlier failure may have paused one.
    const ignored = alone.left_out.filter(({ reason }) => /^(no_fallbacks|cooling)$/.test(reason));
    expect([alone.routes.length, ignored.length]).toEqual([1, 2]);
    const poor = await quoteOf(account, { model: 'one/a', messages: HELLO, max_tokens: 2_000 });
    expect(poor.refusal).toMatchObject({ status: 402, param: 'credits' });
    const unserved = await quoteOf(account, { model: 'openai/gpt-4o', messages: HELLO });
    expect(unserved).toMatchObject({ routes: [], refusal: { status: 503 } });
    expect(new Set(unserved.left_out.map(({ reason }) => reason))).toEqual(
      new Set(['not_configured']),
    );
    expect(fake.calls).toEqual([]);
  });

  it('considers the cache', async () => {
    const account = await openAccount(1_000_000);
    const body = { model: 'sandbox/echo', messages: HELLO };
    const cached = { 'x-gateway-cache': 'true' };
    expect((await quoteOf(account, body, '', cached)).answer_cache).toBe('miss');
    const first = await gateway.post('/v1/chat/completions', body, {
      authorization: `Bearer ${account.key}`,
      ...cached,
    });
    await first.text();
    expect((await quoteOf(account, { ...body, max_cost: 9 }, '', cached)).answer_cache).toBe('hit');
  });

  it('estimates the length of an answer from the tenant’s log', async () => {
    const account = await openAccount(1_000_000);
    const body = { model: 'one/a', messages: HELLO, max_tokens: 5_000 };
    const other = await openAccount(1_000_000);
    await gateway.database.query(
      `INSERT INTO request_log_roll_ups (tenant_id, dimension, grain, period, value, requests, errors,
         prompt_tokens, completion_tokens, cost, latencies)
       VALUES ($1, 'model', 'day', date_trunc('day', now(), 'UTC'), 'one/a', 20, 4, 100, 16 * 321, 0, '{}')`,
      [account.tenantId],
    );
    const [usual, unknown] = [await quoteOf(account, body), await quoteOf(other, body)];
    expect(usual.routes[0]).toMatchObject({ tokens: { completion: 321 }, likely_by: 'log' });
    expect(unknown.routes[0]).toMatchObject({ tokens: { completion: 500 }, likely_by: 'rule' });
  });

  it.each<[string, object, number, string]>([
    ['?endpoint=chats', { model: 'one/a', messages: HELLO }, 400, 'endpoint'],
    ['', { messages: HELLO }, 400, 'model'],
    ['', { model: 'one/none', messages: HELLO }, 404, 'model'],
    ['', { model: 'one/a' }, 400, 'messages'],
    ['?endpoint=messages', { model: 'one/a', messages: HELLO }, 400, 'max_tokens'],
    ['', { model: 'sandbox/transcribe' }, 400, 'model'],
    ['?endpoint=embeddings', { model: 'one/a', input: 'Hi' }, 400, 'model'],
    ['', { model: 'one/a', messages: HELLO, max_cost: 0 }, 400, 'max_cost'],
  ])('rejects %s %j like the endpoint', async (query, body, status, param) => {
    const { key } = await openAccount(1_000);
    const response = await gateway.post(`/v1/quote${query}`, body, {
      authorization: `Bearer ${key}`,
    });
    expect(await response.json()).toMatchObject({ error: { code: status, param } });
  });

  it('requires a routing key', async () => {
    const response = await gateway.post(
      '/v1/quote',
      { model: 'one/a', messages: HELLO },
      { authorization: `Bearer ${gateway.managementKey}` },
    );
    expect(response.status).toBe(403);
  });
});
