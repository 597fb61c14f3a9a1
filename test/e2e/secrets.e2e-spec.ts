import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import {
  errorAnswer,
  politeAnswer,
  sendJson,
  startFakeOpenAi,
  type FakeAnswer,
  type FakeOpenAi,
} from '../support/fake-openai.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';
import { CHAT } from '../support/paths.js';
import { spawnGateway, type SpawnedGateway } from '../support/spawn-gateway.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { delta, streamOf } from '../support/vendor-stream.js';
import { readAvailable } from '../support/streamed-answer.js';

/** The random part of a secret, which the tests search for. */
const random = (): string => randomBytes(16).toString('hex');
const CANARIES = {
  caller: `sk-${random()}`,
  management: `sk-mgmt-${random()}`,
  unknown: `sk-${random()}`,
  vendor: `sk-proj-${random()}`,
  /** The key of a server without a recognizable key format. */
  plainVendor: random(),
  /** The key of a tenant's BYOK account. */
  own: random(),
  gateway: random() + random(),
  prompt: `Prompt ${random()}`,
  answer: `Answer ${random()}`,
};

describe('a secret', () => {
  let fake: FakeOpenAi;
  let files: OperatorFiles;
  let database: TestDatabase;
  let gateway: SpawnedGateway;
  /** All answers of the current case, including headers. */
  const answers: string[] = [];

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    files = await writeOperatorFiles({ one: { base_url: fake.baseUrl, api_key_env: 'ONE_KEY' } }, [
      { id: 'one/a', pricing: { prompt: '0.000001', completion: '0.000002' } },
    ]);
    database = await createTestDatabase();
    gateway = await spawnGateway({
      ...files.environment,
      DATABASE_URL: database.url,
      GATEWAY_SECRET: CANARIES.gateway,
      GATEWAY_BOOTSTRAP_API_KEY: CANARIES.caller,
      GATEWAY_BOOTSTRAP_MANAGEMENT_KEY: CANARIES.management,
      OPENAI_API_KEY: CANARIES.vendor,
      OPENAI_BASE_URL: fake.baseUrl,
      ONE_KEY: CANARIES.plainVendor,
      GATEWAY_SANDBOX: 'true',
      GATEWAY_COOLDOWN_MS: '1',
      GATEWAY_CONNECT_TIMEOUT_MS: '500',
    });
  });
  afterEach(() => {
    expectSafe(answers.splice(0).join('\n'));
  });
  afterAll(async () => {
    await gateway.stop('SIGKILL');
    await database.drop();
    await fake.close();
    await files.remove();
  });

  async function send(path: string, options: RequestInit = {}): Promise<string> {
    const response = await fetch(gateway.url + path, {
      ...options,
      headers: {
        authorization: `Bearer ${CANARIES.caller}`,
        'content-type': 'application/json',
        ...(options.headers as Record<string, string>),
      },
    });
    const heads = [...response.headers].map(([name, value]) => `${name}: ${value}`);
    const { body } = await readAvailable(response);
    answers.push(`${response.status}\n${heads.join('\n')}\n${body}`);
    return body;
  }
  const chat = (fields: object, headers?: Record<string, string>): Promise<string> => {
    const messages = [{ role: 'user', content: CANARIES.prompt }];
    return send(CHAT, {
      method: 'POST',
      body: JSON.stringify({ model: 'one/a', messages, ...fields }),
      ...(headers && { headers }),
    });
  };

  /** A vendor's message that repeats the key. */
  const echo = (authorization = ''): string =>
    `Incorrect API key provided: ${authorization.replace('Bearer ', '')} (${authorization}).`;
  const echoing =
    (status: number, rest: object = {}): FakeAnswer =>
    (call, response) => {
      const message = echo(call.headers.authorization);
      const param = call.headers.authorization;
      const error = { message, param, type: 'invalid_request_error', code: null, ...rest };
      response.setHeader('x-echo', message);
      sendJson(response, status, { error });
    };
  const raw =
    (status: number, contentType: string): FakeAnswer =>
    (call, response) => {
      response.writeHead(status, { 'content-type': contentType });
      response.end(`<p>${echo(call.headers.authorization)}`);
    };
  const inStream =
    (before: string[]): FakeAnswer =>
    (call, response) => {
      const error = { message: echo(call.headers.authorization), code: 400 };
      return streamOf([...before, `data: ${JSON.stringify({ error })}\n\n`], 'end')(call, response);
    };

  it('reaches its vendor, and no caller', async () => {
    fake.answer = politeAnswer({ text: CANARIES.answer });
    for (const model of ['openai/gpt-4o-mini', 'one/a']) {
      expect(await chat({ model })).toContain(CANARIES.answer);
      await chat({ model, stream: true });
    }
    expect(new Set(fake.calls.map((call) => call.headers.authorization))).toEqual(
      new Set([`Bearer ${CANARIES.vendor}`, `Bearer ${CANARIES.plainVendor}`]),
    );
    for (const call of fake.calls) {
      const sent = JSON.stringify(call.headers) + call.rawBody;
      for (const name of ['caller', 'management', 'gateway'] as const) {
        expect(sent).not.toContain(CANARIES[name]);
      }
    }
    // Prompts and answers belong to the caller.
    answers.length = 0;
  });

  it.each<[string, FakeAnswer]>([
    ['401', echoing(401)],
    ['400', echoing(400)],
    ['400 with another type', echoing(400, { type: 'authentication_error' })],
    ['404', echoing(404)],
    ['429', echoing(429)],
    ['500', echoing(500)],
    ['200', echoing(200)],
    ['200 that means 400', echoing(200, { code: 400 })],
    ['a page', raw(502, 'text/html')],
    ['a page for an answer', raw(200, 'text/html')],
    ['an invalid stream', raw(200, 'text/event-stream')],
    ['the first event', inStream([])],
    ['a later event', inStream([delta({ content: 'Half' })])],
    ['a 503 as text', errorAnswer(503, { message: `Bearer ${CANARIES.vendor}` })],
  ])('is not passed on when the vendor repeats it: %s', async (_name, answer) => {
    fake.answer = answer;
    for (const model of ['openai/gpt-4o-mini', 'one/a']) {
      for (const stream of [true, false]) await chat({ model, stream });
    }
  });

  it.each([400, 413, 429, 500])(
    'in a prompt is not logged when a vendor repeats it: %d',
    async (status) => {
      fake.answer = errorAnswer(status, { message: `Bad content: ${CANARIES.prompt}` });
      await chat({});
      await chat({ stream: true });
      // The caller may read it.
      answers.length = 0;
    },
  );

  it('is not repeated to the caller that presents it', async () => {
    fake.answer = politeAnswer();
    const wrong: Record<string, string>[] = [
      { authorization: `Bearer ${CANARIES.unknown}` },
      { authorization: CANARIES.caller },
      { authorization: `Basic ${CANARIES.caller}` },
      { authorization: '', 'x-api-key': CANARIES.caller },
      { authorization: `Bearer ${CANARIES.management}` },
      { authorization: `Bearer ${CANARIES.caller} ${CANARIES.caller}` },
    ];
    for (const headers of wrong) expect(await chat({}, headers)).toContain('"error"');
    await send(`/v1/models?api_key=${CANARIES.caller}&key=${CANARIES.caller}`);
    await send(`${CHAT}?api_key=${CANARIES.caller}`);
    await send(`/v1/customer/api-keys/${CANARIES.caller}`, { method: 'DELETE' });
    await send(`/v1/customer/api-keys/${CANARIES.caller}`, { method: 'PUT' });
    await send(`/v1/${CANARIES.caller}`);
    const body = `{"model":"one/a","x":"${CANARIES.prompt}`;
    await send(CHAT, { method: 'POST', body });
  });

  it('is not on any page of the account', async () => {
    const management = { headers: { authorization: `Bearer ${CANARIES.management}` } };
    for (const path of [
      '/v1/customer/api-keys',
      '/v1/customer/logs',
      '/v1/customer/credits',
      '/v1/models',
      '/v1/providers',
      '/healthz',
      '/readyz',
      '/metrics',
      '/docs-json',
    ]) {
      await send(path);
      await send(path, management);
    }
    await send('/api/v1/credits', management);
    expect(answers).toHaveLength(19);
  });

  it('created by the gateway is shown once and stored nowhere', async () => {
    const made = await send('/v1/customer/api-keys', {
      method: 'POST',
      body: JSON.stringify({ name: 'n' }),
    });
    answers.pop();
    const { id, key } = JSON.parse(made) as { id: string; key: string };
    Object.assign(CANARIES, { made: key });
    await chat({}, { authorization: `Bearer ${key}` });
    await send(`/v1/customer/api-keys/${id}`);
    await send(`/v1/customer/api-keys/${id}`, { method: 'DELETE' });
    await chat({}, { authorization: `Bearer ${key}` });
    expect(answers).toHaveLength(4);
  });

  it('of a tenant is shown to no caller, though it is stored and its vendor repeats it', async () => {
    const path = '/v1/customer/provider-credentials';
    const body = JSON.stringify({ provider: 'one', key: CANARIES.own });
    expect(await send(path, { method: 'POST', body })).toContain('"key_preview"');
    for (const status of [400, 401, 429, 500]) {
      fake.answer = errorAnswer(status, { message: `Bad key ${CANARIES.own}`, type: 'error' });
      const answer = await chat({ model: 'one/a' });
      if (status === 401) expect(answer).toContain('provider-credentials');
      await chat({ model: 'one/a', stream: true });
    }
    expect(fake.calls.at(-1)!.headers.authorization).toBe(`Bearer ${CANARIES.own}`);
    fake.answer = politeAnswer();
    await send(path);
    await send('/metrics');
    expect(answers).toHaveLength(11);
  });

  it('is in no column of the database', async () => {
    const { rows: tables } = await database.database.query<{ name: string }>(
      `SELECT quote_ident(table_name) AS name FROM information_schema.tables
        WHERE table_schema = 'public'`,
    );
    expect(tables.length).toBeGreaterThan(5);
    for (const { name } of tables) {
      const { rows } = await database.database.query<{ row: string }>(
        `SELECT row_to_json(t)::text AS row FROM ${name} t`,
      );
      const content = rows.map(({ row }) => row).join('\n');
      expectSafe(content);
      for (const [, secret] of secrets()) {
        expect(content).not.toContain(Buffer.from(secret).toString('hex'));
      }
    }
  });

  it('is in no output of the process until it exits', async () => {
    expect(await gateway.stop()).toBe(0);
    const output = gateway.output();
    expect(output).toContain('listens on');
    expect(output).toContain('"level":"warn"');
    expectSafe(output);
    const { password } = new URL(database.url);
    expect(password.length).toBeGreaterThan(8);
    expect(output).not.toContain(password);
  });

  it.each<[string, Record<string, string>]>([
    ['an invalid key', { GATEWAY_BOOTSTRAP_API_KEY: CANARIES.plainVendor }],
    ['a secret that is too short', { GATEWAY_SECRET: CANARIES.plainVendor.slice(0, 31) }],
    ['a bad address', { OPENAI_BASE_URL: CANARIES.vendor }],
    ['a bad database', { DATABASE_URL: `postgres://a:${CANARIES.plainVendor}@127.0.0.1:1/x` }],
  ])('is not printed when the start fails on %s', async (_name, environment) => {
    const start = spawnGateway({
      DATABASE_URL: database.url,
      GATEWAY_SECRET: CANARIES.gateway,
      ...environment,
    });
    const message = await start.then(
      () => 'it started',
      (error: Error) => error.message,
    );
    expect(message).toContain('The gateway cannot start.');
    expectSafe(message);
    expect(message).not.toContain(CANARIES.plainVendor.slice(0, 31));
  });
});

/** The random parts by name. */
function secrets(): [string, string][] {
  return Object.entries(CANARIES).map(([name, secret]) => [
    name,
    secret.replace(/^sk-(?:mgmt-|proj-)?/, ''),
  ]);
}

function expectSafe(text: string): void {
  for (const [name, secret] of secrets()) {
    const at = text.indexOf(secret);
    const found = at === -1 ? undefined : text.slice(Math.max(0, at - 200), at + secret.length);
    expect({ name, found }).toEqual({ name, found: undefined });
  }
}
