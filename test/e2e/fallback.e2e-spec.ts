import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { GenerationDto } from '../../src/features/customer/generation/generation.dto.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import {
  brokenAnswer,
  continuingAnswer,
  cutBeforeContentAnswer,
  errorAnswer,
  hangAnswer,
  politeAnswer,
  resetAnswer,
  silentAnswer,
  startFakeOpenAi,
  type FakeAnswer,
  type FakeOpenAi,
} from '../support/fake-openai.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { loggedRequest } from '../support/logged-request.js';
import { shortenGraces } from '../support/short-graces.js';
import { until } from '../support/until.js';
import { readAvailable } from '../support/streamed-answer.js';
import { within } from '../support/within.js';

const FIRST_BYTE_MS = 700;
const PATIENT = { first_byte_ms: 60_000, idle_ms: 60_000 };
const ACCOUNTS = [10, 20, 70].map((limit) => ({
  id: `a${limit}`,
  api_key_env: `POOL_KEY_${limit}`,
  weight: limit,
  requests_per_minute: limit,
}));

/** In USD per token; the catalogue's prices are 1 and 2 credits. */
const PRICES_OF = {
  dear: { prompt: '0.00001', completion: '0.00002' },
  cheap: { prompt: '0.0000001', completion: '0.0000004' },
};
/** Each account has a model that only it serves; the last one has the catalogue's prices. */
const PRICED = ['dear', 'cheap', 'plain'].map((id) => ({
  id,
  api_key_env: `PRICED_KEY_${id.toUpperCase()}`,
  models: [`priced/${id}`, ...(id === 'cheap' ? [] : ['priced/both'])],
  prices: Object.fromEntries(
    Object.entries(PRICES_OF)
      .filter(([name]) => name === id)
      .flatMap(([, prices]) => [`priced/${id}`, 'priced/both'].map((row) => [row, prices])),
  ),
}));

describe('fallback along models: [a, b]', () => {
  let one: FakeOpenAi;
  let other: FakeOpenAi;
  let gateway: BootedGateway;
  let folder: string;

  beforeAll(async () => {
    one = await startFakeOpenAi();
    other = await startFakeOpenAi();
    folder = await mkdtemp(join(tmpdir(), 'gateway-files-'));
    const providers = join(folder, 'providers.json');
    const catalogue = join(folder, 'catalogue.json');
    await writeFile(
      providers,
      JSON.stringify([
        { id: 'one', name: 'One', base_url: one.baseUrl },
        { id: 'other', name: 'Other', base_url: other.baseUrl },
        { id: 'pool', name: 'Pool', base_url: one.baseUrl, accounts: ACCOUNTS },
        { id: 'priced', name: 'Priced', base_url: one.baseUrl, accounts: PRICED },
      ]),
    );
    const price = (prompt: string, completion: string): object => ({
      pricing: { prompt, completion },
    });
    await writeFile(
      catalogue,
      JSON.stringify({
        models: [
          { id: 'one/a', ...price('0.000001', '0.000002') },
          { id: 'other/b', ...price('0.000003', '0.000005') },
          ...['dear', 'cheap', 'plain', 'both'].map((name) => ({
            id: `priced/${name}`,
            ...price('0.000001', '0.000002'),
          })),
          {
            id: 'pool/c',
            ...price('0.000001', '0.000002'),
            // An abandoned call still counts against its account's limit.
            routes: [{ provider: 'pool', model: 'c', priority: 0, timeouts: PATIENT }],
          },
          ...['one/twin', 'one/pair'].map((id) => ({
            id,
            ...price('0.000001', '0.000002'),
            routes: [
              { provider: 'one', model: id.slice('one/'.length), priority: 0 },
              {
                provider: 'other',
                model: id.slice('one/'.length),
                priority: 1,
                pricing: { completion: '0.000007' },
              },
            ],
          })),
        ],
      }),
    );
    gateway = await bootGateway({
      GATEWAY_PROVIDERS: providers,
      GATEWAY_CATALOGUE: catalogue,
      GATEWAY_FIRST_BYTE_TIMEOUT_MS: String(FIRST_BYTE_MS),
      GATEWAY_IDLE_TIMEOUT_MS: String(FIRST_BYTE_MS),
      GATEWAY_HEDGE_PERCENT: '100',
      ...Object.fromEntries(
        [...ACCOUNTS, ...PRICED].map(({ id, api_key_env: name }) => [name, `key-of-${id}`]),
      ),
      // A failure in one case must not pause routes for the next.
      GATEWAY_COOLDOWN_MS: '1',
    });
    shortenGraces(gateway);
  });
  afterEach(() => {
    for (const fake of [one, other]) {
      fake.calls.length = 0;
      fake.answer = politeAnswer();
    }
  });
  afterAll(async () => {
    await gateway.close();
    await one.close();
    await other.close();
    await rm(folder, { recursive: true });
  });

  const ask = (rest: object, key = gateway.apiKey): Promise<Response> =>
    gateway.post(
      '/v1/chat/completions',
      {
        models: ['one/a', 'other/b'],
        messages: [{ role: 'user', content: 'Hello' }],
        ...rest,
      },
      { authorization: `Bearer ${key}` },
    );
  const textOf = async (response: Response): Promise<string> => {
    const body = await response.text();
    if (!body.startsWith('data:')) {
      return (JSON.parse(body) as { choices: [{ message: { content: string } }] }).choices[0]
        .message.content;
    }
    return body
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: {'))
      .map((frame) => JSON.parse(frame.slice(6)) as { choices: { delta: { content?: string } }[] })
      .map((chunk) => chunk.choices[0]?.delta.content ?? '')
      .join('');
  };

  const recordOf = async (response: Response): Promise<GenerationDto['data']> => {
    const id = response.headers.get('x-request-id');
    await loggedRequest(gateway.database, id);
    const found = await gateway.fetch(`/v1/generation?id=${id}`);
    return ((await found.json()) as GenerationDto).data;
  };

  it('calls each account of a pool up to its limit, and returns 429 when all are reached', async () => {
    const busiest = new Map<string, number>();
    one.answer = async (call, response) => {
      const key = call.headers.authorization!;
      busiest.set(key, (busiest.get(key) ?? 0) + 1);
      await politeAnswer()(call, response);
    };
    const send = async (): Promise<number> => {
      const response = await ask({ models: ['pool/c'] });
      await response.arrayBuffer();
      return response.status;
    };
    const caller = async (): Promise<number[]> => {
      const statuses: number[] = [];
      for (let sent = 0; sent < 10; sent++) statuses.push(await send());
      return statuses;
    };
    const statuses = (await Promise.all(Array.from({ length: 10 }, caller))).flat();
    expect(statuses).toEqual(Array.from({ length: 100 }, () => 200));
    expect([...busiest.values()].sort((less, more) => less - more)).toEqual([10, 20, 70]);
    const refused = await ask({ models: ['pool/c'] });
    expect([refused.status, one.calls.length]).toEqual([429, 100]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(61);
  });

  const faults: [string, FakeAnswer, number][] = [
    ['500', errorAnswer(500), 2],
    ['429', errorAnswer(429, { message: 'slow down' }), 1],
    ['401, which is the operator’s fault', errorAnswer(401, { message: 'bad key' }), 1],
    ['a connection reset', resetAnswer, 2],
    ['an answer of {}', (_call, response) => void response.end('{}'), 1],
    ['half a JSON', (_call, response) => void response.end('{"choices":[{"mess'), 1],
  ];
  for (const stream of [false, true]) {
    it.each(faults)(
      `${stream ? 'streaming' : 'whole'}: falls back to b when a answers %s, and charges b's price`,
      async (_name, fault, callsOfOne) => {
        one.answer = fault;
        other.answer = politeAnswer({ text: 'From b.', promptTokens: 10, completionTokens: 5 });
        const response = await ask({ stream });
        expect(response.status).toBe(200);
        expect(response.headers.get('x-gateway-provider')).toBe('other');
        expect(await textOf(response)).toBe('From b.');
        expect([one.calls.length, other.calls.length]).toEqual([callsOfOne, 1]);
        expect(await costOf(response)).toBe(10 * 3 + 5 * 5);
      },
    );
  }

  it.each([false, true])(
    'falls back from a hanging a within the timeout and closes its socket (stream: %s)',
    async (stream) => {
      one.answer = hangAnswer;
      const response = await within(30_000, ask({ stream }));
      expect(await textOf(response)).toBe('Hello from the fake.');
      expect(one.calls).toHaveLength(1);
      await one.calls[0]!.hungUp;
    },
  );

  describe('over accounts with different prices', () => {
    /** Credits held for the running request at each vendor call. */
    let held: number[];
    beforeEach(() => {
      held = [];
      one.answer = async (call, response) => {
        const { rows } = await gateway.database.query<{ amount: string }>(
          'SELECT amount FROM holds WHERE tenant_id = $1',
          [gateway.tenantId],
        );
        held.push(rows.reduce((sum, { amount }) => sum + Number(amount), 0));
        await politeAnswer()(call, response);
      };
    });

    it.each([
      // 10 and 5 tokens; the hold has 100 of output.
      ['dear', 10 * 10 + 5 * 20, 100 * 20],
      ['cheap', 10 * 0.1 + 5 * 0.4, 100 * 0.4],
      ['plain', 10 * 1 + 5 * 2, 100 * 2],
    ])('holds and charges what %s costs, whole and streamed', async (name, charge, output) => {
      for (const stream of [false, true]) {
        const response = await ask({ models: [`priced/${name}`], max_tokens: 100, stream });
        expect([response.status, await textOf(response)]).toEqual([200, 'Hello from the fake.']);
        const { total_cost, vendor_cost, attempts } = await recordOf(response);
        expect({ total_cost, vendor_cost }).toEqual({ total_cost: charge, vendor_cost: charge });
        expect(attempts).toMatchObject([{ account: name, vendor_cost: charge }]);
        expect(held.pop()).toBeGreaterThan(output);
      }
    });

    it('calls no account that could cost more than the caller allows, and refuses before holding', async () => {
      const limits = { max_tokens: 100, max_cost: 1_000 };
      const refused = await ask({ models: ['priced/dear'], ...limits });
      expect(refused.status).toBe(402);
      expect((await ask({ models: ['priced/plain'], ...limits })).status).toBe(200);
      expect(held).toHaveLength(1);
      expect(held[0]).toBeLessThanOrEqual(1_000);
      // Only one of its two accounts is affordable.
      for (let times = 0; times < 5; times++) {
        const answer = await ask({ models: ['priced/both'], ...limits });
        expect(await recordOf(answer)).toMatchObject({ total_cost: 20 });
      }
    });

    it.each([
      ['plain', 'dear', 200, 2_000],
      ['dear', 'plain', 20, 200],
    ])(
      'covers and charges the answering account when %s fails',
      async (bad, good, charge, output) => {
        const polite = one.answer;
        one.answer = (call, response) =>
          call.headers.authorization === `Bearer key-of-${bad}`
            ? errorAnswer(500)(call, response)
            : polite(call, response);
        for (let times = 0; times < 5; times++) {
          const answer = await ask({ models: ['priced/both'], max_tokens: 100 });
          const record = await recordOf(answer);
          expect(record).toMatchObject({ total_cost: charge, vendor_cost: charge });
          const last = record.attempts.at(-1);
          expect(last?.account ?? good).toBe(good);
          expect(held.pop()).toBeGreaterThan(output);
        }
        expect(await findLedgerFaults(gateway.database)).toEqual([]);
      },
    );
  });

  it('falls back from a stream that is cut before its first content, and shows nothing of it', async () => {
    one.answer = cutBeforeContentAnswer;
    other.answer = politeAnswer({ text: 'From b.' });
    const response = await ask({ stream: true });
    const body = await response.text();
    expect(body).toContain('From ');
    expect(body).not.toContain('"model":"one/a"');
    expect(body.match(/"role":"assistant"/g)).toHaveLength(1);
    expect(other.calls).toHaveLength(1);
  });

  it('does not fall back after content: the stream ends with an error and costs nothing', async () => {
    one.answer = (_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        'data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"a","choices":[{"index":0,"delta":{"content":"Half"},"finish_reason":null}]}\n\n',
      );
      setTimeout(() => response.end(), 30);
    };
    const response = await ask({ stream: true });
    const frames = (await readAvailable(response)).body.trim().split('\n\n');
    const last = JSON.parse(frames.at(-1)!.slice(6)) as Record<string, unknown>;
    expect(last.error).toMatchObject({ type: 'provider_error', code: 502, param: 'model' });
    expect(last.choices).toMatchObject([{ finish_reason: 'error' }]);
    expect(other.calls).toHaveLength(0);
    expect(await costOf(response)).toBe(0);
  });

  describe('recovery', () => {
    const WHOLE =
      'Ein Fuchs läuft über die Straße. 狐狸跳过了懒狗,然后睡着了。\n\n```js\nconst a = [1, 1, 1];\n```\n' +
      'Лиса 🦊 спит 👩‍👩‍👧, and then it jumps again; الثعلب ينام تحت الشجرة. Done.';
    const twin = (rest: object = {}): Promise<Response> =>
      ask({ models: ['one/twin'], stream: true, recovery: 'continue', ...rest });

    it('continues at the next route, for the price of one answer at the higher price', async () => {
      one.answer = brokenAnswer(WHOLE.slice(0, 60));
      other.answer = continuingAnswer(WHOLE, { promptTokens: 100, completionTokens: 40 });
      const response = await twin({ stream_options: { include_usage: true } });
      const body = await response.clone().text();
      expect(await textOf(response)).toBe(WHOLE);
      expect(body.match(/"finish_reason":"stop"/g)).toHaveLength(1);
      expect(body).toMatch(/data: \[DONE\]\s*$/);
      expect(response.headers.get('x-gateway-provider')).toBe('one');
      const record = await recordOf(response);
      const { prompt_tokens: prompt, completion_tokens: completion } = JSON.parse(
        /"usage":(\{"prompt_tokens".*?\})/.exec(body)![1]!.replace(/,"[a-z_]+_details":.*/, '}'),
      ) as Record<string, number>;
      expect(record.total_cost).toBe(prompt! * 1 + completion! * 7);
      expect(completion).toBeGreaterThan(15);
      expect(prompt).toBeLessThan(100);
      expect(record).toMatchObject({
        provider_name: 'other',
        recovered: true,
        attempts: [
          { route: 'one/one/twin', outcome: 'reset' },
          { route: 'other/one/twin', outcome: 'answered', continues_at: 60 },
        ],
      });
      // 100 prompt tokens at 1, 40 of output at 7, plus the estimate for the interrupted call.
      const [first, second] = record.attempts;
      expect(second!.vendor_cost).toBe(100 * 1 + 40 * 7);
      expect(record.vendor_cost).toBe(first!.vendor_cost + second!.vendor_cost);
    });

    it('joins streams cut at any position', async () => {
      other.answer = continuingAnswer(WHOLE);
      const cuts = Array.from(
        { length: 40 },
        (_, index) => 1 + ((index * 61) % (WHOLE.length - 1)),
      );
      for (const cut of cuts) {
        // Between characters, since half a character is not UTF-8.
        const sent = Buffer.from(WHOLE.slice(0, cut))
          .toString()
          .replace(/\ufffd$/, '');
        one.answer = brokenAnswer(sent);
        expect(await textOf(await twin())).toBe(WHOLE);
      }
    });

    it.each([['messages'], ['responses']])('continues %s', async (dialect) => {
      one.answer = brokenAnswer(WHOLE.slice(0, 60));
      other.answer = continuingAnswer(WHOLE);
      const input =
        dialect === 'messages'
          ? { max_tokens: 500, messages: [{ role: 'user', content: 'Go.' }] }
          : { input: 'Go.' };
      const response = await gateway.post(
        `/v1/${dialect}`,
        { model: 'one/twin', stream: true, ...input },
        { 'x-gateway-recovery': 'continue' },
      );
      const texts = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(
        ([, data]) => JSON.parse(data!) as { type: string; delta?: string | { text?: string } },
      );
      const deltas = texts
        .filter(({ type }) => /^(content_block_delta|response.output_text.delta)$/.test(type))
        .map(({ delta }) => (typeof delta === 'string' ? delta : delta!.text));
      expect(deltas.join('')).toBe(WHOLE);
    });

    it('reports an error, and charges nothing, when the other route does not continue the text', async () => {
      one.answer = brokenAnswer(WHOLE.slice(0, 60));
      other.answer = politeAnswer({ text: 'Certainly! Here is the rest.', completionTokens: 9 });
      const response = await twin();
      const { body } = await readAvailable(response);
      expect(body).toContain('"type":"provider_error"');
      expect(body).not.toContain('Certainly');
      const record = await recordOf(response);
      expect(record).toMatchObject({ total_cost: 0, attempts: [{}, { outcome: 'unjoined' }] });
    });

    it('rejects an unknown option', async () => {
      const response = await gateway.post(
        '/v1/chat/completions',
        { model: 'one/twin', messages: [{ role: 'user', content: 'Hello' }] },
        { 'x-gateway-recovery': 'please' },
      );
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { param: 'x-gateway-recovery' } });
    });
  });

  describe('hedging', () => {
    const pair = (rest: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
      gateway.post(
        '/v1/chat/completions',
        { model: 'one/pair', messages: [{ role: 'user', content: 'Hello' }], ...rest },
        headers,
      );
    const late =
      (ms: number, answer = politeAnswer()): FakeAnswer =>
      async (call, response) => {
        await wait(ms);
        if (!response.destroyed) await answer(call, response);
      };

    it.each([false, true])(
      'returns the second route’s answer when the first is silent, and closes the first (stream: %s)',
      async (stream) => {
        one.answer = silentAnswer;
        const response = await pair({ stream, hedge_ms: 40 });
        expect(response.headers.get('x-gateway-provider')).toBe('other');
        expect(await textOf(response)).toBe('Hello from the fake.');
        await one.calls[0]!.hungUp;
        expect([one.calls.length, other.calls.length]).toEqual([1, 1]);
        expect(other.calls[0]!.body).not.toHaveProperty('hedge_ms');
        const record = await recordOf(response);
        expect(record).toMatchObject({
          total_cost: 10 * 1 + 5 * 7,
          provider_name: 'other',
          attempts: [
            { route: 'one/one/pair', outcome: 'outpaced', status: null },
            { route: 'other/one/pair', outcome: 'answered', hedged: true, vendor_cost: 45 },
          ],
        });
        // At least the prompt reached the first vendor.
        const [first] = record.attempts;
        expect(first!.vendor_cost).toBeGreaterThan(0);
        expect(record.vendor_cost).toBe(first!.vendor_cost + 45);
      },
    );

    it('uses the first route when it is faster after all, at its price', async () => {
      one.answer = late(150);
      other.answer = silentAnswer;
      const response = await pair({ stream: true }, { 'x-gateway-hedge-ms': '40' });
      expect(response.headers.get('x-gateway-provider')).toBe('one');
      expect(await textOf(response)).toBe('Hello from the fake.');
      await other.calls[0]!.hungUp;
      const record = await recordOf(response);
      expect(record).toMatchObject({
        total_cost: 10 * 1 + 5 * 2,
        attempts: [
          { route: 'one/one/pair', outcome: 'answered', vendor_cost: 20 },
          { route: 'other/one/pair', outcome: 'outpaced', hedged: true },
        ],
      });
      // The losing call's price is logged next to the charge.
      const [, lost] = record.attempts;
      expect(lost!.vendor_cost).toBeGreaterThan(0);
      expect(record.vendor_cost).toBe(20 + lost!.vendor_cost);
    });

    it.each([
      ['messages', { max_tokens: 500, messages: [{ role: 'user', content: 'Go.' }] }],
      ['responses', { input: 'Go.' }],
    ])('hedges %s', async (dialect, input) => {
      one.answer = silentAnswer;
      const body = { model: 'one/pair', stream: true, hedge_ms: 40, ...input };
      const response = await gateway.post(`/v1/${dialect}`, body);
      expect(response.headers.get('x-gateway-provider')).toBe('other');
      expect(await response.text()).toContain('fake.');
      await one.calls[0]!.hungUp;
    });

    it('calls no other route without the option, or when the first route is in time', async () => {
      one.answer = late(60);
      await (await pair()).text();
      await (await pair({ hedge_ms: 30_000 })).text();
      expect([one.calls.length, other.calls.length]).toEqual([2, 0]);
    });

    it('closes both when the caller disconnects, and charges for the first only', async () => {
      one.answer = silentAnswer;
      other.answer = silentAnswer;
      const abort = new AbortController();
      const leaving = gateway.fetch('/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        signal: abort.signal,
        body: JSON.stringify({
          ...{ model: 'one/pair', stream: true, hedge_ms: 30, max_tokens: 20 },
          messages: [{ role: 'user', content: 'x'.repeat(400) }],
        }),
      });
      void leaving.catch(() => undefined);
      await until(() => other.calls.length > 0);
      const { rows } = await gateway.database.query<{ request_id: string }>(
        'SELECT request_id FROM holds',
      );
      const id = rows[0]!.request_id;
      abort.abort();
      await Promise.all([one.calls[0]!.hungUp, other.calls[0]!.hungUp]);
      const row = await loggedRequest(gateway.database, id);
      const found = await gateway.fetch(`/v1/generation?id=${id}`);
      const { data } = (await found.json()) as GenerationDto;
      const [first, second] = data.attempts;
      expect(data.attempts).toMatchObject([
        { route: 'one/one/pair', outcome: 'aborted' },
        { route: 'other/one/pair', outcome: 'aborted', hedged: true },
      ]);
      expect(row.cost).toBe(first!.vendor_cost);
      expect(row.vendor_cost).toBe(first!.vendor_cost + second!.vendor_cost);
      expect(second!.vendor_cost).toBeGreaterThan(100);
    });

    it.each([0, 60_001, 1.5, '40', true, -1])('rejects hedge_ms: %j', async (hedge_ms) => {
      const response = await pair({ hedge_ms });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { param: 'hedge_ms' } });
      expect(one.calls).toHaveLength(0);
    });

    it('rejects an invalid header', async () => {
      const response = await pair({}, { 'x-gateway-hedge-ms': 'soon' });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { param: 'x-gateway-hedge-ms' } });
    });

    it('charges each of 200 concurrent requests for one answer, and the books balance', async () => {
      let calls = 0;
      const asTheyCome =
        (manners: readonly FakeAnswer[]): FakeAnswer =>
        (call, response) =>
          manners[calls++ % manners.length]!(call, response);
      one.answer = asTheyCome([late(5), hangAnswer, late(120), errorAnswer(500), late(60)]);
      other.answer = asTheyCome([late(5), late(90), errorAnswer(503), late(40), late(60)]);
      const startedAt = new Date();
      const responses = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          pair({ stream: index % 2 === 0, hedge_ms: 1 + (index % 60) }),
        ),
      );
      const prices: Record<string, number> = { one: 20, other: 45 };
      await Promise.all(
        responses.map(async (response) => {
          const name = response.headers.get('x-gateway-provider') ?? 'none';
          const text = await response.text();
          const row = await rowOf(response);
          if (response.status === 200 && row.outcome === 'completed') {
            expect([row.provider, row.cost]).toEqual([name, prices[name]]);
            expect(text).toContain('fake.');
          } else expect(row.cost).toBe(0);
        }),
      );
      const answered = responses.filter(({ status }) => status === 200);
      // Fewer on a busy machine, where more requests get two failing routes.
      expect(answered.length).toBeGreaterThan(120);
      const { rows } = await gateway.database.query<{ hedged: string; lost: string }>(
        `SELECT count(*) FILTER (WHERE attempts @> '[{"hedged": true}]') AS hedged,
           count(*) FILTER (WHERE attempts @> '[{"outcome": "outpaced"}]') AS lost
         FROM request_logs WHERE created_at >= $1`,
        [startedAt],
      );
      expect(Number(rows[0]!.hedged)).toBeGreaterThan(20);
      expect(Number(rows[0]!.lost)).toBeGreaterThan(0);
      await until(async () => (await gateway.database.query('SELECT 1 FROM holds')).rowCount === 0);
      expect(await findLedgerFaults(gateway.database)).toEqual([]);
      const margin = await gateway.admin('GET', '/v1/admin/margin?group_by=provider');
      const { total } = (await margin.json()) as { total: { vendor_cost: number } };
      const sums = await gateway.database.query<{ sum: string }>(
        'SELECT sum(vendor_cost) AS sum FROM request_logs',
      );
      expect(total.vendor_cost).toBe(Number(sums.rows[0]!.sum));
    });
  });

  it('logs each attempt and its vendor cost', async () => {
    one.answer = errorAnswer(429, { message: 'slow down' });
    other.answer = politeAnswer({ text: 'From b.', promptTokens: 10, completionTokens: 5 });
    const response = await ask({});
    await response.text();
    const record = await recordOf(response);
    expect(record).toMatchObject({
      total_cost: 55,
      vendor_cost: 55,
      attempts: [
        { route: 'one/one/a', outcome: 'rate_limited', status: 429, vendor_cost: 0 },
        { route: 'other/other/b', outcome: 'answered', status: 200, vendor_cost: 55 },
      ],
    });
    const [first, second] = record.attempts;
    expect(second!.started_ms).toBeGreaterThanOrEqual(first!.started_ms + first!.duration_ms - 1);
  });

  it('logs the vendor cost of an interrupted answer that was free for its caller', async () => {
    one.answer = (_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        'data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"a","choices":[{"index":0,"delta":{"content":"Half of an answer"},"finish_reason":null}]}\n\n',
      );
      setTimeout(() => response.end(), 30);
    };
    const response = await ask({ stream: true });
    await readAvailable(response);
    // 5 characters of a prompt at one price, 17 of an answer at another, four to a token.
    const estimate = 2 * 1 + 5 * 2;
    const record = await recordOf(response);
    expect(record).toMatchObject({ total_cost: 0, vendor_cost: estimate });
    expect(record.attempts).toMatchObject([{ status: null, vendor_cost: estimate }]);
    expect(record.attempts[0]!.outcome).not.toBe('answered');
  });

  it('logs the vendor cost of each attempt, whatever its outcome', async () => {
    const reported = politeAnswer({ promptTokens: 10, completionTokens: 5 });
    let calls = 0;
    one.answer = (call, response) =>
      calls++ === 0 ? errorAnswer(500)(call, response) : reported(call, response);
    const retried = await ask({});
    await retried.text();
    expect(await recordOf(retried)).toMatchObject({
      total_cost: 20,
      vendor_cost: 20,
      attempts: [
        { route: 'one/one/a', outcome: 'server', vendor_cost: 0 },
        { route: 'one/one/a', outcome: 'answered', vendor_cost: 20 },
      ],
    });
    one.answer = errorAnswer(500);
    other.answer = errorAnswer(500);
    const failed = await ask({});
    await failed.text();
    expect(await recordOf(failed)).toMatchObject({ total_cost: 0, vendor_cost: 0 });
  });

  it("returns a caller's mistake as 400 without calling b", async () => {
    one.answer = errorAnswer(400, { message: 'bad temperature', param: 'temperature' });
    const response = await ask({ temperature: 9 });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: {
        message: 'bad temperature',
        type: 'invalid_request_error',
        code: 400,
        param: 'temperature',
      },
    });
    expect(other.calls).toHaveLength(0);
  });

  it('falls back to the next model when the prompt is too long for the first', async () => {
    one.answer = errorAnswer(400, { message: 'too long', code: 'context_length_exceeded' });
    const response = await ask({});
    expect(response.status).toBe(200);
    expect(other.calls).toHaveLength(1);
  });

  it.each([
    [429, 'rate_limit_error', errorAnswer(429, { message: 'x' }, { 'retry-after': '60' })],
    [502, 'provider_error', errorAnswer(500)],
    [504, 'timeout_error', hangAnswer],
  ] as const)('answers %i when every route fails alike', async (status, type, fault) => {
    one.answer = fault;
    other.answer = fault;
    const response = await ask({});
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { type, code: status, param: 'model' } });
    if (status === 429)
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await costOf(response)).toBe(0);
  });

  it('tries exactly one route with allow_fallbacks: false', async () => {
    one.answer = errorAnswer(503, { message: 'x' }, { 'retry-after': '60' });
    const response = await ask({ provider: { allow_fallbacks: false } });
    expect(response.status).toBe(502);
    expect([one.calls.length, other.calls.length]).toEqual([1, 0]);
  });

  it('honours provider.order, only and ignore within a model, and the route’s own price', async () => {
    const twin = (provider: object): Promise<Response> =>
      ask({ models: undefined, model: 'one/twin', provider });
    const ordered = await twin({ order: ['other'] });
    expect(ordered.headers.get('x-gateway-provider')).toBe('other');
    expect(await costOf(ordered)).toBe(10 * 1 + 5 * 7);
    expect((await twin({ only: ['other'] })).headers.get('x-gateway-provider')).toBe('other');
    expect((await twin({ ignore: ['one'] })).headers.get('x-gateway-provider')).toBe('other');
    const none = await twin({ only: ['elsewhere'] });
    expect(none.status).toBe(404);
    expect(await none.json()).toMatchObject({ error: { param: 'provider' } });
  });

  it.each([
    ['session_id', { session_id: 'talk' }, {}],
    ['X-Session-Id', {}, { 'x-session-id': 'another talk' }],
    ['its opening', {}, {}],
  ])(
    'keeps a conversation, identified by %s, on the route it fell back to',
    async (_, fields, headers) => {
      const rules = { role: 'system', content: 'Rules. '.repeat(800) };
      const turn = (more: object[]): Promise<Response> =>
        gateway.post(
          '/v1/chat/completions',
          {
            model: 'one/twin',
            messages: [rules, { role: 'user', content: 'Hello' }, ...more],
            ...fields,
          },
          headers,
        );
      one.answer = errorAnswer(500);
      expect((await turn([])).headers.get('x-gateway-provider')).toBe('other');
      one.answer = politeAnswer({ text: 'From a.', promptTokens: 10, completionTokens: 5 });
      const next = await turn([
        { role: 'assistant', content: 'Hi' },
        { role: 'user', content: 'Go on.' },
      ]);
      expect(next.headers.get('x-gateway-provider')).toBe('other');
      expect(other.calls.at(-1)?.body).not.toHaveProperty('session_id');
      const short = await ask({ models: ['one/twin'], ...fields });
      expect(short.headers.get('x-gateway-provider')).toBe('one');
    },
  );

  it('honours provider.sort and max_price, whatever the dialect', async () => {
    const ordered = { sort: { by: 'price', partition: 'none' }, order: [] };
    const sorted = await ask({ models: ['other/b', 'one/a'], provider: ordered });
    expect(sorted.headers.get('x-gateway-provider')).toBe('one');
    const provider = { order: ['other'], max_price: { completion: '6.99' } };
    const dialects = [
      ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Go.' }] }],
      ['/v1/messages', { max_tokens: 5, messages: [{ role: 'user', content: 'Go.' }] }],
      ['/v1/responses', { input: 'Go.' }],
    ] as const;
    for (const [path, body] of dialects) {
      const response = await gateway.post(path, { model: 'one/twin', provider, ...body });
      expect([path, response.headers.get('x-gateway-provider')]).toEqual([path, 'one']);
    }
    const none = await ask({ models: ['one/twin'], provider: { max_price: { prompt: 0.5 } } });
    expect(none.status).toBe(404);
    expect(await none.json()).toMatchObject({
      error: { param: 'provider.max_price', message: expect.stringContaining('one/twin at one') },
    });
  });

  it.each([
    ['one', { deny: ['other'] }],
    ['one', { allow: ['one'] }],
    ['other', { deny: ['one'] }],
    ['other', { allow: ['o*'], deny: ['on*'] }],
  ] as const)(
    'calls only %s, first or as a fallback, for a key with %j',
    async (name, providers) => {
      const made = await gateway.fetch('/v1/customer/api-keys', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${gateway.managementKey}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ name: 'limited', limits: { providers } }),
      });
      const { key } = (await made.json()) as { key: string };
      const twin = () => ask({ models: undefined, model: 'one/twin' }, key);
      const [allowed, denied] = name === 'one' ? [one, other] : [other, one];
      const answer = await twin();
      expect([answer.status, answer.headers.get('x-gateway-provider')]).toEqual([200, name]);
      expect(await costOf(answer)).toBe(name === 'one' ? 20 : 45);
      allowed.answer = errorAnswer(500);
      expect((await twin()).status).toBe(502);
      expect([allowed.calls.length > 1, denied.calls.length]).toEqual([true, 0]);
    },
  );

  it('calls no denied provider, also for the next model of the chain', async () => {
    const limit = async (limits: object): Promise<void> => {
      const changed = await gateway.fetch('/v1/customer/limits', {
        method: 'PUT',
        headers: {
          authorization: `Bearer ${gateway.managementKey}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(limits),
      });
      expect(changed.status).toBe(200);
    };
    one.answer = errorAnswer(500);
    await limit({ providers: { deny: ['other'] } });
    // Takes effect within a second.
    await until(async () => (await ask({})).status === 502);
    for (const fake of [one, other]) fake.calls.length = 0;
    expect((await ask({})).status).toBe(502);
    expect([one.calls.length > 0, other.calls.length]).toEqual([true, 0]);
    await limit({ providers: null });
    await until(async () => (await ask({})).headers.get('x-gateway-provider') === 'other');
  });

  it('tries the cheapest first with route: sort', async () => {
    const response = await ask({ models: ['other/b', 'one/a'], route: 'sort' });
    expect(response.headers.get('x-gateway-provider')).toBe('one');
  });

  it('aborts the upstream call when the caller disconnects, and charges the received output', async () => {
    one.answer = politeAnswer({ text: 'word '.repeat(200), chunkDelayMs: 20 });
    const abort = new AbortController();
    const response = await gateway.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      signal: abort.signal,
      body: JSON.stringify({
        model: 'one/a',
        stream: true,
        messages: [{ role: 'user', content: 'x'.repeat(400) }],
      }),
    });
    const reader = response.body!.getReader();
    await reader.read();
    await reader.read();
    abort.abort();
    await one.calls[0]!.hungUp;
    const cost = await costOf(response);
    expect(cost).toBeGreaterThanOrEqual(100);
    expect(await rowOf(response)).toMatchObject({
      outcome: 'cancelled',
      usage_source: 'estimated',
      status: 'success',
      vendor_cost: cost,
    });
  });

  const rowOf = ({ headers }: Response) =>
    loggedRequest(gateway.database, headers.get('x-request-id'));

  /** Returns the settled cost of an answer, once its row exists. */
  async function costOf(response: Response): Promise<number> {
    if (!response.bodyUsed) await response.text().catch(() => '');
    return (await rowOf(response)).cost;
  }
});
