import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConsoleLogger } from '@nestjs/common';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../../src/app/gateway.js';
import { loadSettings } from '../../src/app/load-settings.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';
import { answeredAsBeforeMs } from '../support/logged-request.js';
import { runOperatorCommand } from '../support/operator-command.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const SECRET = 'the-secret-of-every-gateway-under-test';
const MODEL = 'sandbox/echo';
const ROUTE = { provider: 'sandbox', model: 'echo', priority: 0 };
const VENDOR_KEY = 'sk-vendor-key-that-nobody-may-read-0123456789';
const API_KEY = 'sk-configuration-key-of-all-gateways';

/** In the instances' catalogue file. */
const DECLARED = [
  { id: 'local/first', pricing: { prompt: '0.1', completion: '0.1' } },
  { id: 'sandbox/words', pricing: { prompt: '0', completion: '0', request: '0.011' } },
];

let own: TestDatabase;
/** The environment of both instances. */
let environment: Record<string, string>;
let folder: string;
let fake: FakeOpenAi;
let one: BootedGateway;
let two: BootedGateway;

/** A configuration with this price of a sandbox request in USD, besides its tokens, which the built-in catalogue prices. */
const priced = (request: string, more: object[] = []) => ({
  models: [{ id: MODEL, pricing: { prompt: '0', completion: '0', request } }, ...more],
});

async function config(...words: string[]) {
  return runOperatorCommand(
    { DATABASE_URL: own.url, GATEWAY_SECRET: SECRET, GATEWAY_DATA_DIR: folder },
    'config',
    ...words,
  );
}

async function file(content: unknown, name = 'wanted.json'): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, JSON.stringify(content));
  return path;
}

const apply = async (content: unknown, ...options: string[]) =>
  config('apply', await file(content), ...options);

interface Readiness {
  status: string;
  degraded: string[];
  reasons: string[];
  config: { version: number; fingerprint: string };
}

async function readiness({ url }: { url: string }): Promise<Readiness> {
  return (await (await fetch(`${url}/readyz`)).json()) as Readiness;
}

/** Waits until the instance uses the version. @returns the duration in ms */
async function reaches(gateway: { url: string }, version: number): Promise<number> {
  const startedAtMs = performance.now();
  await until(async () => (await readiness(gateway)).config.version === version);
  return performance.now() - startedAtMs;
}

async function latest(): Promise<number> {
  const { rows } = await own.database.query<{ number: number }>(
    'SELECT max(number) AS number FROM config_versions',
  );
  return rows[0]!.number;
}

const ask = (gateway: BootedGateway, model = MODEL): Promise<Response> =>
  gateway.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] });

async function costOf(gateway: BootedGateway, model?: string): Promise<number> {
  return (await rowOf(gateway, model)).cost;
}

/** Sends a request and returns its log row. */
async function rowOf(
  gateway: BootedGateway,
  model?: string,
): Promise<{ cost: number; config_version: number | null }> {
  const response = await ask(gateway, model);
  const requestId = response.headers.get('x-request-id');
  expect(response.status).toBe(200);
  await response.text();
  const { rows } = await own.database.query<{ cost: number; config_version: number | null }>(
    'SELECT cost, config_version FROM request_logs WHERE request_id = $1',
    [requestId],
  );
  return rows[0]!;
}

beforeAll(async () => {
  own = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'gateway-config-'));
  fake = await startFakeOpenAi();
  environment = {
    GATEWAY_CATALOGUE: await file({ models: DECLARED }, 'catalogue.json'),
    GATEWAY_HEALTH_CACHE_MS: '4000',
    GATEWAY_BOOTSTRAP_API_KEY: API_KEY,
  };
  one = await bootGateway(environment, { database: own });
  two = await bootGateway(environment, { database: own });
});
afterAll(async () => {
  await one.close();
  await two.close();
  await fake.close();
  await own.drop();
  await rm(folder, { recursive: true, force: true });
});

describe('the configuration', () => {
  it('has the declarations of files and variables as its first version, on all instances', async () => {
    const [first, second] = [await readiness(one), await readiness(two)];
    expect(first.config).toEqual({
      version: 1,
      fingerprint: expect.stringMatching(/^[\da-f]{12}$/),
    });
    expect(second.config).toEqual(first.config);
    const { output } = await config('show');
    expect(JSON.parse(output)).toEqual({
      models: DECLARED,
      providers: [],
      settings: { GATEWAY_HEALTH_CACHE_MS: 4000 },
    });
    const { rows } = await own.database.query<{ fingerprint: string }>(
      'SELECT fingerprint FROM config_versions',
    );
    expect(rows).toEqual([{ fingerprint: first.config.fingerprint }]);
    const metrics = await (await one.fetch('/metrics')).text();
    expect(metrics).toContain('gateway_config_version 1\n');
    expect(metrics).toContain(
      `gateway_config_info{version="1",fingerprint="${first.config.fingerprint}"} 1`,
    );
  });

  it('prices every request by a change from its commit on, on both instances under load', async () => {
    expect(await apply(priced('0.001'))).toMatchObject({ code: 0, errors: '' });
    await Promise.all([reaches(one, await latest()), reaches(two, await latest())]);
    let isOver = false;
    const load = [one, two, one, two].map(async (gateway) => {
      while (!isOver) expect((await ask(gateway)).status).toBe(200);
    });
    const { rows: before } = await own.database.query<{ at: Date }>(
      'SELECT clock_timestamp() AS at',
    );
    const change = { document: priced('0.002') };
    expect((await one.admin('POST', '/v1/admin/config/versions', change)).status).toBe(200);
    const changedAt = new Date();
    const number = await latest();
    await Promise.all([reaches(one, number), reaches(two, number)]);
    const { rows: known } = await own.database.query<{ at: Date }>(
      'SELECT clock_timestamp() AS at',
    );
    const seen = (await own.database.query('SELECT FROM request_logs')).rowCount ?? 0;
    await until(
      async () =>
        ((await own.database.query('SELECT FROM request_logs')).rowCount ?? 0) > seen + 20,
    );
    isOver = true;
    await Promise.all(load);
    const { rows } = await own.database.query<{ cost: number; count: number }>(
      `SELECT cost, count(*) AS count FROM request_logs WHERE created_at < $1 GROUP BY cost`,
      [before[0]!.at],
    );
    expect(rows.map(({ cost }) => cost)).not.toContain(2_000);
    const { rows: after } = await own.database.query<{ cost: number }>(
      `SELECT DISTINCT cost FROM request_logs WHERE created_at > $1`,
      [known[0]!.at],
    );
    expect(after).toEqual([{ cost: 2_000 }]);
    const { rows: named } = await own.database.query(
      `SELECT DISTINCT config_version, cost FROM request_logs ORDER BY config_version`,
    );
    expect(named).toEqual([
      { config_version: number - 1, cost: 1_000 },
      { config_version: number, cost: 2_000 },
    ]);
    expect(await answeredAsBeforeMs(own.database, changedAt, 'cost = 1000')).toBeLessThan(1_000);
  });

  it('logs no version when the prices come from a file of the instance', async () => {
    // The first version had them too; the latest does not.
    expect(await rowOf(one, 'sandbox/words')).toEqual({ cost: 11_000, config_version: null });
    await apply({ models: [...priced('0.002').models, ...DECLARED] });
    await reaches(one, await latest());
    expect(await rowOf(one, 'sandbox/words')).toEqual({
      cost: 11_000,
      config_version: await latest(),
    });
    await apply(priced('0.002'));
    const number = await latest();
    await Promise.all([reaches(one, number), reaches(two, number)]);
  });

  it('is not changed when any part is invalid, and names the part', async () => {
    const number = await latest();
    const wrong: [unknown, RegExp][] = [
      [priced('free'), /sandbox\/echo: pricing\.request must be a decimal/],
      [{ models: [{ id: 'local/x', pricing: { prompt: '1' } }] }, /local\/x: no complete price/],
      [{ models: [{ pricing: {} }] }, /row 0 must have an id/],
      [{ models: [{ id: MODEL }, { id: MODEL }] }, /sandbox\/echo appears twice/],
      [
        { providers: [{ id: 'mine', name: 'Mine', base_url: 'ftp://x' }] },
        /providers\.mine\.base_url must be a URL/,
      ],
      [
        { providers: [{ id: 'sandbox', name: 'O', base_url: fake.baseUrl }] },
        /providers\.sandbox\.id .* built in/,
      ],
      [{ settings: { GATEWAY_COOLDOWN_MS: -1 } }, /GATEWAY_COOLDOWN_MS must be an integer/],
      [{ settings: { PORT: 1 } }, /PORT cannot change while the service runs/],
      [{ ...priced('0.003'), settings: { LOG_LEVEL: 'loud' } }, /LOG_LEVEL must be/],
      [{ prices: [] }, /prices/],
    ];
    for (const [content, message] of wrong) {
      expect(await apply(content)).toMatchObject({
        code: 1,
        errors: expect.stringMatching(message),
      });
      expect(await config('diff', await file(content))).toMatchObject({ code: 2 });
    }
    expect(await latest()).toBe(number);
    expect(await costOf(one)).toBe(2_000);
  });

  it('shows a difference before it is applied, and applies it only once', async () => {
    const path = await file(priced('0.003'));
    expect(await config('diff', path)).toMatchObject({
      code: 1,
      output: '~ models/sandbox/echo/pricing/request: "0.002" -> "0.003"\n',
    });
    expect(await config('apply', path, '--comment', 'higher price')).toMatchObject({ code: 0 });
    const number = await latest();
    expect(await config('diff', path)).toMatchObject({ code: 0, output: '' });
    expect(await config('apply', path)).toMatchObject({
      code: 0,
      output: `Nothing differs; version ${number} stays in force.\n`,
    });
    expect(await latest()).toBe(number);
    const { output } = await config('versions');
    expect(output).toMatch(new RegExp(`\\n${number} .* npm run gateway +higher price\\n`));
    const { rows } = await own.database.query(
      `SELECT actor_kind, target_id, after -> 'comment' AS comment FROM audit_log
       WHERE action = 'config.apply' ORDER BY id DESC LIMIT 1`,
    );
    expect(rows).toEqual([
      { actor_kind: 'command', target_id: String(number), comment: 'higher price' },
    ]);
  });

  it('accepts one of two concurrent changes, and rejects the other', async () => {
    const number = await latest();
    const paths = [await file(priced('0.004'), 'a.json'), await file(priced('0.005'), 'b.json')];
    const done = await Promise.all(
      paths.map((path) => config('apply', path, '--expect', String(number))),
    );
    expect(done.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(done.find(({ code }) => code === 1)?.errors).toMatch(
      new RegExp(`is version ${number + 1}, not ${number}`),
    );
    expect(await latest()).toBe(number + 1);
  });

  it('rolls back to an earlier version with a new one', async () => {
    const { output } = await config('versions');
    const [, target = ''] = /\n(\d+) .*higher price/.exec(output) ?? [];
    expect(await config('rollback', target)).toMatchObject({ code: 0 });
    const number = await latest();
    await Promise.all([reaches(one, number), reaches(two, number)]);
    expect([await costOf(one), await costOf(two)]).toEqual([3_000, 3_000]);
    expect((await config('show', String(number))).output).toBe(
      (await config('show', target)).output,
    );
    expect(await config('rollback', '999')).toMatchObject({ code: 1 });
  });

  it('is immutable in the database', async () => {
    for (const statement of [
      "UPDATE config_versions SET comment = 'x'",
      'DELETE FROM config_versions',
      'TRUNCATE config_versions',
    ]) {
      await expect(own.database.query(statement)).rejects.toThrow('append-only');
    }
  });

  it('reaches an instance whose session for notices was ended', async () => {
    await own.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'model-gateway notices' AND datname = current_database()`,
    );
    await apply(priced('0.006'));
    const number = await latest();
    await Promise.all([reaches(one, number), reaches(two, number)]);
    expect([await costOf(one), await costOf(two)]).toEqual([6_000, 6_000]);
  });

  it('changes settings while instances run, except those declared by a variable', async () => {
    await apply({
      ...priced('0.006'),
      settings: { GATEWAY_REQUEST_TIMEOUT_MS: 50, GATEWAY_HEALTH_CACHE_MS: 7 },
    });
    await reaches(one, await latest());
    const slow = await ask(one, 'sandbox/fault-hang');
    expect(slow.status).toBe(504);
    await slow.text();
    // Their variable says 4000, so the effective configuration differs from the version.
    const { rows } = await own.database.query<{ fingerprint: string }>(
      'SELECT fingerprint FROM config_versions ORDER BY number DESC LIMIT 1',
    );
    expect((await readiness(one)).config.fingerprint).not.toBe(rows[0]!.fingerprint);
    await apply(priced('0.006'));
    await reaches(one, await latest());
  });

  it('serves an instance and a worker that start without any file', async () => {
    await apply(
      priced('0.006', [
        {
          id: 'sandbox/echo-two',
          pricing: { prompt: '0', completion: '0', request: '0.009' },
          routes: [{ provider: 'sandbox', model: 'echo', priority: 0 }],
        },
      ]),
    );
    const third = await bootGateway({ GATEWAY_BOOTSTRAP_API_KEY: API_KEY }, { database: own });
    expect((await readiness(third)).config.version).toBe(await latest());
    expect(await costOf(third, 'sandbox/echo-two')).toBe(9_000);
    await third.close();
    const worker = await startGateway(
      loadSettings({
        DATABASE_URL: own.url,
        PORT: '0',
        GATEWAY_DATA_DIR: folder,
        GATEWAY_SECRET: SECRET,
      }),
      new ConsoleLogger({ logLevels: ['fatal'] }),
      { role: 'worker' },
    );
    expect((await readiness(worker)).config.version).toBe(await latest());
    await worker.close();
  });

  it('reports an instance whose own variables change the configuration', async () => {
    const other = await bootGateway(
      { ...environment, GATEWAY_COOLDOWN_MS: '5' },
      { database: own },
    );
    const { warnings } = other.gateway;
    const { degraded } = await readiness(other);
    await other.close();
    // Data folders differ as well, which is the other reason.
    expect(warnings).toContainEqual(
      expect.stringMatching(
        /^Instances have different configurations: this one's is version \d+ with/,
      ),
    );
    expect(degraded).toContain('config');
  });

  it('may remove a model in use, whose requests still finish', async () => {
    const provider = { id: 'local', name: 'Local', base_url: fake.baseUrl, api_key: VENDOR_KEY };
    await apply({
      ...priced('0.006'),
      models: [{ id: 'local/slow', pricing: { prompt: '0', completion: '0', request: '0.01' } }],
      providers: [provider],
    });
    await reaches(two, await latest());
    let answerNow = (): void => undefined;
    const release = new Promise<void>((resolve) => (answerNow = resolve));
    const answer = fake.answer;
    fake.answer = async (call, response) => {
      await release;
      await answer(call, response);
    };
    const cost = costOf(two, 'local/slow');
    await until(() => fake.calls.some(({ body }) => body.model === 'slow'));
    await apply(priced('0.006'));
    await reaches(two, await latest());
    expect((await ask(two, 'local/slow')).status).toBe(404);
    answerNow();
    expect(await cost).toBe(10_000);
    fake.answer = answer;
  });

  it('makes a provider callable at once, with a key that is stored nowhere in plaintext', async () => {
    const provider = { id: 'mine', name: 'Mine', base_url: fake.baseUrl, api_key: VENDOR_KEY };
    const models = [
      { id: 'mine/model', pricing: { prompt: '0', completion: '0', request: '0.01' } },
    ];
    const done = await apply({ models, providers: [provider] });
    const number = await latest();
    await Promise.all([reaches(one, number), reaches(two, number)]);
    expect([await costOf(one, 'mine/model'), await costOf(two, 'mine/model')]).toEqual([
      10_000, 10_000,
    ]);
    expect(fake.calls.at(-1)?.headers.authorization).toBe(`Bearer ${VENDOR_KEY}`);

    const shown = await config('show');
    const { rows } = await own.database.query<{ text: string }>(
      `SELECT query_to_xml(format('SELECT each::text FROM %I AS each', tablename), true, true, '')::text AS text
       FROM pg_tables WHERE schemaname = 'public'`,
    );
    const texts = [
      done.output,
      shown.output,
      (await config('versions')).output,
      ...rows.map(({ text }) => text),
    ];
    for (const encoded of [
      VENDOR_KEY,
      Buffer.from(VENDOR_KEY).toString('base64').slice(0, -4),
      Buffer.from(VENDOR_KEY).toString('hex'),
    ]) {
      expect(texts.filter((text) => text.includes(encoded))).toEqual([]);
    }
    // The shown document can be sent again and keeps the key, but not with another address.
    const again = JSON.parse(shown.output) as { providers: { base_url: string }[] };
    expect(again.providers[0]).toMatchObject({ api_key_preview: 'sk-v...6789' });
    expect(await apply(again)).toMatchObject({
      code: 0,
      output: `Nothing differs; version ${number} stays in force.\n`,
    });
    again.providers[0]!.base_url = 'http://127.0.0.1:9/v1';
    expect(await apply(again)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('providers.mine.api_key must be sent again'),
    });
  });

  it('reports a provider whose key is in a variable that an instance lacks', async () => {
    const provider = {
      id: 'mine',
      name: 'Mine',
      base_url: fake.baseUrl,
      api_key_env: 'NOWHERE_API_KEY',
    };
    await apply({ models: [], providers: [provider] });
    await reaches(one, await latest());
    // A reason from the previous change may remain until all instances have reported this one.
    const isTold = (reason: string) => /provider mine .* NOWHERE_API_KEY/.test(reason);
    await until(async () => (await readiness(one)).reasons.some(isTold));
    expect((await readiness(one)).degraded).toContain('config');
    await apply(priced('0.006'));
    await reaches(one, await latest());
  });
});

describe('/v1/admin/config', () => {
  const CONFIG = '/v1/admin/config';
  interface Answer {
    version: number;
    fingerprint: string;
    is_stored: boolean;
    comment: string | null;
    document: { models: { id: string }[]; providers: { id: string }[]; settings: object };
    diff: { path: string }[];
    error: { type: string; param: string; message: string };
  }
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: Answer; etag: string | null }> => {
    const response = await fetch(one.url + CONFIG + path, {
      method,
      headers: {
        authorization: `Bearer ${one.adminKey}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Answer;
    return { status: response.status, body: answer, etag: response.headers.get('etag') };
  };

  it('shows the effective values and their sources', async () => {
    const document = {
      ...priced('0.006'),
      providers: [{ id: 'mine', name: 'Mine', base_url: fake.baseUrl, api_key: VENDOR_KEY }],
      settings: { GATEWAY_COOLDOWN_MS: 9, GATEWAY_HEALTH_CACHE_MS: 7 },
    };
    // Comments may contain any text, even what PostgreSQL rejects.
    const comment = 'for \u0000\ud800\\all';
    const made = await call('POST', '/versions', { document, comment });
    expect(made).toMatchObject({ status: 200, body: { is_stored: true, comment } });
    const { body, etag } = await call('GET', '');
    expect(etag).toBe(`"${made.body.version}"`);
    const find = (list: unknown, key: string, name: string) =>
      (list as Record<string, unknown>[]).find((each) => each[key] === name);
    const { models, providers, settings, ...rest } = body as unknown as Record<string, unknown>;
    expect(rest).toMatchObject({ version: made.body.version, faults: [] });
    // Here a variable overrides the version.
    expect(rest.fingerprint).not.toBe(made.body.fingerprint);
    expect(find(models, 'id', MODEL)).toMatchObject({ source: 'version', is_overridden: false });
    expect(find(models, 'id', 'local/first')).toMatchObject({
      source: 'file',
      is_overridden: true,
    });
    expect(find(providers, 'id', 'mine')).toMatchObject({
      source: 'version',
      api_key_preview: 'sk-v...6789',
      is_callable: true,
    });
    expect(find(providers, 'id', 'sandbox')).toMatchObject({ source: 'variable' });
    expect(find(settings, 'name', 'GATEWAY_COOLDOWN_MS')).toMatchObject({
      value: 9,
      source: 'version',
    });
    expect(find(settings, 'name', 'GATEWAY_HEALTH_CACHE_MS')).toMatchObject({
      value: 4000,
      source: 'variable',
    });
    expect(find(settings, 'name', 'LOG_LEVEL')).toMatchObject({
      value: null,
      source: 'default',
      default: 'info',
      meaning: expect.stringContaining(' '),
    });
    expect(JSON.stringify([made.body, body])).not.toContain(VENDOR_KEY);

    const listed: unknown[] = [];
    for (let cursor = ''; ;) {
      const { body: page } = await call('GET', `/models?limit=40${cursor}`);
      const { data, next_cursor: next } = page as unknown as {
        data: unknown[];
        next_cursor: string;
      };
      listed.push(...data);
      if (!next) break;
      cursor = `&cursor=${next}`;
    }
    expect(listed).toHaveLength(Number(rest.models_count));
    expect(new Set(listed.map((each) => (each as { id: string }).id)).size).toBe(listed.length);
    expect(find(listed, 'id', MODEL)).toMatchObject({
      source: 'version',
      is_overridden: false,
      pricing: { request: '0.006' },
    });
    expect(find(listed, 'id', 'local/first')).toMatchObject({
      source: 'file',
      is_overridden: true,
    });
    expect(find(listed, 'id', 'sandbox/fault-500')).toMatchObject({ source: 'default' });
    const { body: some } = await call('GET', '/models?search=FAULT-5');
    expect((some as unknown as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['sandbox/fault-500', 'sandbox/fault-503']),
    );
  });

  it('changes one model or provider, at once on the answering instance', async () => {
    const price = { pricing: { request: '0.007' } };
    const put = await call('PUT', `/models/${MODEL}`, { row: price, comment: 'one price' });
    expect(put.body.diff).toEqual([
      { path: 'models/sandbox/echo/pricing/request', before: '0.006', after: '0.007' },
    ]);
    expect(await costOf(one)).toBe(7_000);
    await reaches(two, put.body.version);
    expect(await costOf(two)).toBe(7_000);

    const provider = { name: 'New', base_url: fake.baseUrl, api_key: VENDOR_KEY };
    expect(await call('PUT', '/providers/new', { provider })).toMatchObject({ status: 200 });
    const row = { pricing: { prompt: '0', completion: '0', request: '0.01' } };
    expect(await call('PUT', '/models/new/model', { row })).toMatchObject({ status: 200 });
    expect(await costOf(one, 'new/model')).toBe(10_000);
    const renamed = { name: 'Renamed', base_url: fake.baseUrl };
    await call('PUT', '/providers/new', { provider: renamed });
    expect(await costOf(one, 'new/model')).toBe(10_000);
    expect(fake.calls.at(-1)?.headers.authorization).toBe(`Bearer ${VENDOR_KEY}`);
    expect(await call('DELETE', '/providers/new')).toMatchObject({ status: 200 });
    expect((await ask(one, 'new/model')).status).toBe(503);
    const removed = await call('PUT', '/models/new/model', { row: { removed: true } });
    expect(removed.status).toBe(200);
    expect((await ask(one, 'new/model')).status).toBe(404);
  });

  it('spreads requests over the accounts of a provider, whose keys stay with it', async () => {
    const keys = ['sk-pool-0123456789-one', 'sk-pool-0123456789-two'];
    const accounts = [
      { id: 'one', api_key: keys[0] },
      { id: 'two', api_key: keys[1], weight: 2 },
    ];
    const provider = { name: 'Pool', base_url: fake.baseUrl, accounts };
    const put = await call('PUT', '/providers/pool', { provider });
    expect(put.status).toBe(200);
    expect(JSON.stringify(put.body)).not.toContain('0123456789');
    const row = { pricing: { prompt: '0', completion: '0', request: '0.01' } };
    await call('PUT', '/models/pool/model', { row });
    const usedBy = async (requests: number): Promise<Set<string | undefined>> => {
      const before = fake.calls.length;
      for (let count = 0; count < requests; count++) {
        expect((await ask(one, 'pool/model')).status).toBe(200);
      }
      return new Set(fake.calls.slice(before).map(({ headers }) => headers.authorization));
    };
    const both = new Set(keys.map((key) => `Bearer ${key}`));
    expect(await usedBy(40)).toEqual(both);
    const listed = await one.fetch('/v1/providers');
    for (const response of [listed, await one.admin('GET', '/v1/admin/providers')]) {
      const text = await response.text();
      expect(text).not.toContain('0123456789');
      const { data } = JSON.parse(text) as { data: { id: string; accounts?: object[] }[] };
      expect(data.find(({ id }) => id === 'pool')?.accounts).toMatchObject([
        { id: 'one', state: 'healthy' },
        { id: 'two', state: 'healthy' },
      ]);
    }
    const renamed = { ...provider, name: 'Renamed', accounts: [{ id: 'two' }, { id: 'one' }] };
    const kept = await call('PUT', '/providers/pool', { provider: renamed });
    const shown = kept.body.document.providers.find(({ id }) => id === 'pool');
    expect(shown).toMatchObject({
      accounts: [
        { id: 'two', api_key_preview: 'sk-p...-two' },
        { id: 'one', api_key_preview: 'sk-p...-one' },
      ],
    });
    expect(await usedBy(40)).toEqual(both);
    const moved = { ...provider, accounts: [{ id: 'one', base_url: 'http://127.0.0.1:9/v1' }] };
    const bad: [unknown, string][] = [
      [moved, 'providers.pool.accounts.0.api_key'],
      [
        { ...provider, accounts: [{ id: 'one', api_key: 'short' }] },
        'providers.pool.accounts.0.api_key',
      ],
      [{ ...provider, accounts: [{ id: 'a' }, { id: 'a' }] }, 'providers.pool.accounts.1.id'],
      [{ ...provider, accounts: [{ id: 'a', weight: 0 }] }, 'providers.pool.accounts.0.weight'],
    ];
    for (const [wrong, param] of bad) {
      const answer = await call('PUT', '/providers/pool', { provider: wrong });
      expect([answer.status, answer.body.error.param]).toEqual([400, param]);
    }
    expect(await call('DELETE', '/providers/pool')).toMatchObject({ status: 200 });
    await call('PUT', '/models/pool/model', { row: { removed: true } });
  });

  it('validates without storing, and names the field of an error', async () => {
    const number = await latest();
    const document = { settings: { LOG_LEVEL: 'error' } };
    const dry = await call('POST', '/versions', { document, dry_run: true });
    expect(dry).toMatchObject({ status: 200, body: { is_stored: false, version: number + 1 } });
    const wrong: [string, unknown, string][] = [
      ['/versions', {}, 'document'],
      ['/versions', { document: [] }, 'document'],
      ['/versions', { document: { models: {} } }, 'models'],
      ['/versions', { document: { models: [{ id: MODEL, pricing: { prompt: 1 } }] } }, 'models'],
      ['/versions', { document: { settings: { PORT: 1 } } }, 'settings.PORT'],
      ['/versions', { document: { settings: { LOG_LEVEL: 'a\u0000' } } }, 'document'],
      ['/versions', { document: {}, comment: '' }, 'comment'],
      ['/versions', { document: {}, expected_version: '1' }, 'expected_version'],
      ['/versions', { document: {}, force: true }, 'force'],
      [
        '/versions',
        {
          document: { providers: [{ id: 'p', name: 'P', base_url: 'http://x', api_key: 'short' }] },
        },
        'providers.p.api_key',
      ],
      [
        '/versions',
        {
          document: {
            providers: [
              { id: 'p', name: 'P', base_url: 'http://x', api_key_env: 'GATEWAY_SECRET' },
            ],
          },
        },
        'providers.p.api_key_env',
      ],
      ['/rollback', { version: 0 }, 'version'],
    ];
    for (const [path, body, param] of wrong) {
      const { status, body: answer } = await call('POST', path, body);
      expect([status, answer.error.type, answer.error.param]).toEqual([
        400,
        'invalid_request_error',
        param,
      ]);
    }
    const elsewhere = { name: 'Mine', base_url: 'http://127.0.0.1:9/v1' };
    expect(await call('PUT', '/providers/mine', { provider: elsewhere })).toMatchObject({
      status: 400,
      body: { error: { param: 'providers.mine.api_key' } },
    });
    expect(await call('POST', '/rollback', { version: 99_999 })).toMatchObject({ status: 404 });
    expect(await call('DELETE', '/providers/nobody')).toMatchObject({ status: 404 });
    for (const path of ['/versions/0', '/versions/99999999999', '/versions/x']) {
      expect(await call('GET', path)).toMatchObject({ status: 404 });
    }
    expect(await latest()).toBe(number);
  });

  it('rejects a change based on an outdated version, and rolls back', async () => {
    const number = await latest();
    const change = (request: string, headers?: Record<string, string>, expected?: number) =>
      call(
        'PUT',
        `/models/${MODEL}`,
        {
          row: { pricing: { request } },
          ...(expected !== undefined && { expected_version: expected }),
        },
        headers,
      );
    const done = await Promise.all([
      change('0.008', { 'if-match': `"${number}"` }),
      change('0.009', { 'if-match': `"${number}"` }),
    ]);
    expect(done.map(({ status }) => status).sort()).toEqual([200, 412]);
    expect(await change('0.001', {}, number)).toMatchObject({
      status: 409,
      body: { error: { type: 'conflict_error', param: 'expected_version' } },
    });
    expect(await change('0.001', { 'if-match': 'W/"x"' })).toMatchObject({ status: 400 });
    expect(await call('POST', '/rollback', { version: number })).toMatchObject({
      status: 200,
      body: { version: number + 2, comment: `Back to version ${number}` },
    });
    expect(await costOf(one)).toBe(7_000);
    const { body } = await call('GET', `/versions/${number}`);
    expect((await call('GET', `/versions/${number + 2}`)).body.document).toEqual(body.document);
  });

  it('lists versions by cursor, and audits each', async () => {
    const numbers: number[] = [];
    let cursor: string | null = '';
    do {
      const page = (await call('GET', `/versions?limit=5${cursor && `&cursor=${cursor}`}`))
        .body as unknown as { data: { version: number }[]; next_cursor: string | null };
      numbers.push(...page.data.map(({ version }) => version));
      cursor = page.next_cursor;
    } while (cursor !== null);
    const expected = Array.from({ length: await latest() }, (_, index) => index + 1).reverse();
    expect(numbers).toEqual(expected);
    const { rows } = await own.database.query<{ id: number }>(
      `SELECT DISTINCT target_id::integer AS id FROM audit_log WHERE target_type = 'config_version'
       ORDER BY id DESC`,
    );
    expect(rows.map(({ id }) => id)).toEqual(expected);
    expect(await call('GET', '/versions?cursor=x')).toMatchObject({
      status: 400,
      body: { error: { param: 'cursor' } },
    });
  });

  it("tests a vendor's key with a real call, and uses it at once", async () => {
    const provider = { name: 'OpenAI', base_url: fake.baseUrl, api_key: VENDOR_KEY };
    const path = '/v1/admin/config/providers/openai';
    const refused = await one.admin('POST', `${path}/test`, {
      provider: { ...provider, base_url: 'http://127.0.0.1:9/v1' },
    });
    expect(refused.status).toBe(200);
    expect(await refused.json()).toMatchObject({ ok: false, status: null, models_seen: null });
    expect((await one.admin('POST', `${path}/test`, {})).status).toBe(404);
    expect((await one.admin('POST', `${path}/test`, { provider: { name: 'O' } })).status).toBe(400);
    expect(await (await one.admin('POST', `${path}/test`, { provider })).json()).toMatchObject({
      message: expect.any(String),
    });
    expect((await one.admin('PUT', path, { provider })).status).toBe(200);
    expect((await ask(one, 'openai/gpt-4o-mini')).status).toBe(200);
    expect(fake.calls.at(-1)?.headers.authorization).toBe(`Bearer ${VENDOR_KEY}`);
    expect((await one.admin('POST', `${path}/test`, {})).status).toBe(200);
    expect((await one.admin('DELETE', path)).status).toBe(200);
  });

  it('uses the stored rows of a version created by another program', async () => {
    const { rows } = await own.database.query<{ number: number }>(
      `INSERT INTO config_versions (number, document, catalogue, fingerprint, diff, actor_kind, actor_name, program, built_in)
       SELECT number + 1, document, jsonb_set(catalogue, '{${MODEL},pricing,request}', '"0.007"'), fingerprint, diff,
              actor_kind, actor_name, '0.0.1', 'others'
       FROM config_versions ORDER BY number DESC LIMIT 1
       RETURNING number, pg_notify('gateway_config', number::text)`,
    );
    await reaches(one, rows[0]!.number);
    expect(await costOf(one)).toBe(7_000);
  });

  it.each<[string, object]>([
    ['creation date', { created: 1e15 }],
    ['context length', { context_length: 1e300 }],
    ['token limit', { max_completion_tokens: 1e300 }],
    ['time limit', { routes: [{ ...ROUTE, timeouts: { request_ms: 3_000_000_000 } }] }],
    ['priority', { routes: [ROUTE, { ...ROUTE, priority: 1e300 }] }],
  ])('rejects a row with a %s out of bounds', async (_name, fields) => {
    const number = await latest();
    const row = { pricing: { prompt: '0', completion: '0' }, routes: [ROUTE], ...fields };
    for (const more of [{ dry_run: true }, {}]) {
      const answer = await call('PUT', '/models/sandbox/odd', { row, ...more });
      expect([answer.status, answer.body.error?.param]).toEqual([400, 'models']);
    }
    expect(await latest()).toBe(number);
  });

  describe('given a provider that no instance could call', () => {
    const entry = (id: string, fields: object) => ({ id, name: 'Mistyped', ...fields });
    const LOCAL = 'http://127.0.0.1:9/v1';
    const vertex = (region: string) =>
      entry('vertex', { accounts: [{ id: 'a', region }], settings: { project: 'one' } });

    it.each<[string, object, string]>([
      ['a location with a space', vertex('us central1'), 'accounts.0.region'],
      ['a location that is a host', vertex('localhost:28363/x'), 'accounts.0.region'],
      [
        'a region with a trailing space',
        entry('bedrock', {
          accounts: [{ id: 'a', settings: { region: 'eu-central-1 ' } }],
          settings: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE' },
        }),
        'accounts.0.settings.region',
      ],
      [
        'an API version with a slash',
        entry('azure', { base_url: 'https://one.example', settings: { apiVersion: 'a/b' } }),
        'settings.apiVersion',
      ],
      ['a metadata service', entry('mine2', { base_url: 'http://169.254.169.254/v1' }), 'base_url'],
      [
        'a metadata service in IPv6 form',
        entry('mine2', { base_url: 'http://[::ffff:a9fe:a9fe]/v1' }),
        'base_url',
      ],
      [
        'a link-local address',
        entry('mine2', { base_url: 'http://[fe80::1]:8080/v1' }),
        'base_url',
      ],
      [
        'a metadata service by its name',
        entry('mine2', { base_url: 'http://Metadata.google.internal./v1' }),
        'base_url',
      ],
      [
        'a metadata service behind NAT64',
        entry('mine2', { base_url: 'http://[64:ff9b::a9fe:a9fe]/v1' }),
        'base_url',
      ],
      ['an address with a query', entry('mine2', { base_url: `${LOCAL}?a=b` }), 'base_url'],
      ['null for settings', entry('mine2', { base_url: LOCAL, settings: null }), 'settings'],
      ['a list for settings', entry('mine2', { base_url: LOCAL, settings: ['a'] }), 'settings'],
      [
        'a name of an object’s property as a setting',
        entry('vertex', { base_url: LOCAL, settings: { location: 'a', toString: 'b' } }),
        'provider.settings.toString',
      ],
      ['null for accounts', entry('mine2', { base_url: LOCAL, accounts: null }), 'accounts'],
      [
        'a list for an account',
        entry('mine2', { base_url: LOCAL, accounts: [[{ id: 'a' }]] }),
        'accounts',
      ],
      ...['base_url', 'settings', 'weight', 'models', 'prices', 'region'].map(
        (field): [string, object, string] => [
          `null for an account's ${field}`,
          entry('mine2', { base_url: LOCAL, accounts: [{ id: 'a', [field]: null }] }),
          `accounts.0.${field}`,
        ],
      ),
      [
        'an access key id with a space',
        entry('bedrock', { base_url: LOCAL, settings: { accessKeyId: 'AKIA ' } }),
        'settings.accessKeyId',
      ],
      [
        'default credentials for another host',
        entry('vertex', { base_url: 'http://127.0.0.1:9', settings: { project: 'one' } }),
        '',
      ],
    ])('rejects %s, dry run or not, and keeps serving', async (_name, provider, field) => {
      const number = await latest();
      const { id } = provider as { id: string };
      const param = field.startsWith('provider.')
        ? field
        : `providers.${id}${field && `.${field}`}`;
      for (const more of [{ dry_run: true }, {}]) {
        const answer = await call('PUT', `/providers/${id}`, { provider, ...more });
        expect([answer.status, answer.body.error?.param]).toEqual([400, param]);
      }
      expect(await latest()).toBe(number);
      for (const gateway of [one, two]) expect((await ask(gateway)).status).toBe(200);
    });

    it('sends no stored or ambient credential to another address', async () => {
      const provider = { ...vertex('us-central1'), api_key: 'ya29.stored-key-of-vertex' };
      expect(await call('PUT', '/providers/vertex', { provider })).toMatchObject({ status: 200 });
      const moved = { provider: vertex('europe-west4') };
      expect(await call('PUT', '/providers/vertex', moved)).toMatchObject({
        status: 400,
        body: { error: { param: 'providers.vertex.api_key' } },
      });
      const renamed = { provider: { ...vertex('us-central1'), name: 'Renamed' } };
      expect(await call('PUT', '/providers/vertex', renamed)).toMatchObject({ status: 200 });
      const elsewhere = entry('vertex2', { adapter: 'vertex', base_url: fake.baseUrl });
      const { calls } = fake;
      const before = calls.length;
      expect(await call('POST', '/providers/vertex2/test', { provider: elsewhere })).toMatchObject({
        status: 400,
        body: { error: { param: 'provider' } },
      });
      expect(calls).toHaveLength(before);
      expect(await call('DELETE', '/providers/vertex')).toMatchObject({ status: 200 });
    });

    /** Stores a version like a program without these checks. */
    async function storeUnchecked(providers: object[], builtIn?: string): Promise<number> {
      const { rows } = await own.database.query<{ number: number }>(
        `INSERT INTO config_versions (number, document, catalogue, fingerprint, diff, comment,
                                      actor_kind, actor_id, actor_name, program, built_in)
         SELECT number + 1, jsonb_set(document, '{providers}', $1::jsonb), catalogue, fingerprint,
                diff, comment, actor_kind, actor_id, actor_name, program, coalesce($2, built_in)
           FROM config_versions ORDER BY number DESC LIMIT 1 RETURNING number`,
        [JSON.stringify(providers), builtIn],
      );
      const { number } = rows[0]!;
      await own.database.query(`SELECT pg_notify('gateway_config', $1)`, [String(number)]);
      return number;
    }

    it('starts with a version of an earlier program with looser rules', async () => {
      const settings = { prefill: 'yes' };
      const number = await storeUnchecked(
        [entry('mine2', { base_url: LOCAL, settings })],
        'earlier',
      );
      await reaches(one, number);
      const started = await bootGateway(environment, { database: own });
      try {
        const { config: inUse, reasons } = await readiness(started);
        expect(inUse.version).toBe(number);
        expect(reasons.join()).toContain('providers.mine2.settings.prefill must be one of');
        expect((await ask(started)).status).toBe(200);
      } finally {
        await started.close();
      }
      expect(await call('DELETE', '/providers/mine2')).toMatchObject({ status: 200 });
    });

    it('allows other changes next to a file’s provider with ambient credentials', async () => {
      const GATEWAY_PROVIDERS = await file(
        [entry('proxy', { adapter: 'vertex', base_url: LOCAL, settings: { project: 'one' } })],
        'providers.json',
      );
      const database = await createTestDatabase();
      const started = await bootGateway({ GATEWAY_PROVIDERS }, { database });
      const other = await bootGateway({}, { database });
      const path = `${CONFIG}/models/${MODEL}`;
      const row = (request: string) => ({ row: { pricing: { request } } });
      try {
        expect((await started.admin('PUT', path, row('0.001'))).status).toBe(200);
        expect((await other.admin('PUT', path, row('0.002'))).status).toBe(200);
        expect((await readiness(other)).reasons.join()).toContain(
          'The provider proxy cannot be called by this instance',
        );
      } finally {
        await other.close();
        await started.close();
        await database.drop();
      }
    });

    it('sends no BYOK key to the new address of a provider', async () => {
      const provider = (base_url: string) => ({
        provider: { id: 'moving', name: 'Moving', base_url, own_credentials: true },
      });
      const row = { id: 'moving/model', pricing: { prompt: '0', completion: '0.000001' } };
      await call('PUT', '/providers/moving', provider(fake.baseUrl));
      await call('PUT', `/models/${encodeURIComponent(row.id)}`, { row });
      const stored = await one.post('/v1/customer/provider-credentials', {
        ...{ provider: 'moving', key: 'byok-key-of-the-tenant', check: false },
      });
      const { id } = (await stored.json()) as { id: string };
      expect((await ask(one, row.id)).status).toBe(200);
      const elsewhere = await startFakeOpenAi();
      try {
        const moved = await call('PUT', '/providers/moving', provider(elsewhere.baseUrl));
        expect(moved.status).toBe(200);
        await reaches(two, moved.body.version);
        for (const gateway of [one, two]) {
          const refused = await ask(gateway, row.id);
          const { error } = (await refused.json()) as { error: { param: string } };
          expect([refused.status, error.param]).toEqual([502, 'provider-credentials']);
        }
        expect(elsewhere.calls).toEqual([]);
      } finally {
        await elsewhere.close();
        await one.fetch(`/v1/customer/provider-credentials/${id}`, { method: 'DELETE' });
        await call('DELETE', '/providers/moving');
      }
    });

    it('keeps the last valid version when an invalid one is stored, also at a start', async () => {
      const good = await latest();
      await storeUnchecked([vertex('us central1')]);
      const metrics = async (): Promise<string> => (await fetch(`${one.url}/metrics`)).text();
      await until(async () => (await metrics()).includes('gateway_config_refused 1'));
      const isReported = async (): Promise<boolean> =>
        (await readiness(one)).reasons.some((reason) => reason.includes(`Version ${good + 1}`));
      await until(isReported);
      const { degraded, config: inUse } = await readiness(one);
      expect(degraded).toContain('config');
      expect(inUse.version).toBe(good);
      expect((await ask(one)).status).toBe(200);
      const started = await bootGateway(environment, { database: own });
      try {
        expect((await readiness(started)).config.version).toBe(good);
        expect((await ask(started)).status).toBe(200);
      } finally {
        await started.close();
      }
      const mended = await call('DELETE', '/providers/vertex');
      expect(mended).toMatchObject({ status: 200, body: { version: good + 2, is_stored: true } });
      for (const gateway of [one, two]) await reaches(gateway, good + 2);
      expect(await metrics()).toContain('gateway_config_refused 0');
    });
  });
});
