import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { databaseOptions } from '../../src/platform/database/database-options.js';
import { Database } from '../../src/platform/database/database.js';
import type { EmbeddedPostgres } from '../../src/platform/database/embedded-postgres.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { EmbeddedPostgresScene, query } from '../support/embedded-postgres-service.js';
import {
  configurePostgres,
  fillDisk,
  freezePostgres,
  mountDisk,
  unmountDisk,
} from '../support/postgres-faults.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const HELLO = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] };
/** 5 s on an idle machine. */
const LIMIT_MS = 30_000;
/**
 * Paths that work without the database or report the outage in their own format. Logins validate their
 * input first and are excluded below.
 */
const OTHERS = new Set(['/healthz', '/readyz', '/metrics', '/v1/artifacts/{id}']);

/** A separate server whose address stays the same when the server moves. */
const scene = new EmbeddedPostgresScene();
const target = { host: '127.0.0.1', port: 0 };
const proxy = new TcpProxy(target);
const hasOwnDisk = mountDisk(scene.dataDirectory, 256);
let postgres: EmbeddedPostgres;
let url: string;
let gateway: BootedGateway;
let dataSource: DataSource;

async function startPostgres(): Promise<void> {
  postgres = await scene.start();
  target.port = Number(new URL(postgres.url).port);
}

const chat = (): Promise<Response> => gateway.post('/v1/chat/completions', HELLO);
const asManager = (path: string, init: RequestInit = {}): Promise<Response> =>
  gateway.fetch(path, {
    ...init,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${gateway.managementKey}`,
    },
  });
const makeKey = (): Promise<Response> =>
  asManager('/v1/customer/api-keys', { method: 'POST', body: '{"name":"one"}' });

async function readiness(): Promise<{ status: number; database: string; retry: string | null }> {
  const response = await gateway.fetch('/readyz');
  const { database } = (await response.json()) as { database: string };
  return { status: response.status, database, retry: response.headers.get('retry-after') };
}

const isReady = async (): Promise<boolean> => (await readiness()).status === 200;
const says = (database: string) => async (): Promise<boolean> =>
  (await readiness()).database === database;

/** Returns the status of an answer after checking that it came in time. */
async function inTime(answer: Promise<Response>): Promise<number> {
  const startedMs = performance.now();
  const response = await answer;
  const text = await response.text();
  expect(performance.now() - startedMs).toBeLessThan(LIMIT_MS);
  if (response.status === 503) {
    expect(response.headers.get('retry-after')).toBe('5');
    expect(JSON.parse(text)).toMatchObject({ error: { code: 503, param: 'database' } });
  }
  return response.status;
}

async function expectWork(): Promise<void> {
  expect(await Promise.all([inTime(chat()), inTime(chat()), inTime(makeKey())])).toEqual([
    200, 200, 201,
  ]);
}

beforeAll(async () => {
  await startPostgres();
  await proxy.open();
  url = proxy.inFrontOf(postgres.url);
  dataSource = await new DataSource(databaseOptions(postgres.url)).initialize();
  // The gateway migrates it.
  const own = { url, dataSource, database: new Database(dataSource), drop: async () => undefined };
  gateway = await bootGateway({}, { database: own });
  await expectWork();
});

afterAll(async () => {
  await gateway.close();
  await dataSource.destroy();
  await proxy.cut();
  await scene.stopAll();
  if (hasOwnDisk) unmountDisk(scene.dataDirectory);
  scene.remove();
});

describe('a database that refuses writes', () => {
  it('answers 503 until it accepts them, keeps serving reads, and needs no restart', async () => {
    configurePostgres(scene.cluster, 'default_transaction_read_only = on');
    await until(says('read-only'));
    expect(await readiness()).toEqual({ status: 503, database: 'read-only', retry: '5' });
    expect(await Promise.all([inTime(chat()), inTime(makeKey())])).toEqual([503, 503]);
    expect(await inTime(asManager('/v1/customer/logs'))).toBe(200);
    expect(await inTime(gateway.fetch('/metrics'))).toBe(200);

    configurePostgres(scene.cluster, 'default_transaction_read_only = off');
    await until(isReady);
    await expectWork();
  });

  it('leaves no read-only session after it recovers', async () => {
    const change = (setting: string) =>
      query(postgres.url, `BEGIN READ WRITE; ALTER ROLE gateway ${setting}; COMMIT`);
    await change('SET default_transaction_read_only = on');
    await cutSessions();
    await until(says('read-only'));
    // Every pool opens sessions that stay read-only as long as they live.
    const refused = await Promise.all(
      Array.from({ length: 12 }, (_, index) => inTime(index % 2 ? chat() : makeKey())),
    );
    expect(new Set(refused)).toEqual(new Set([503]));
    expect(await inTime(asManager('/v1/customer/logs'))).toBe(200);
    await change('RESET default_transaction_read_only');
    await until(isReady);
    for (let round = 0; round < 4; round++) await expectWork();
  });
});

describe('a disk that is full', () => {
  (hasOwnDisk ? it : it.skip)(
    'is noticed before chats fail, and over when there is room',
    async () => {
      const makeRoom = fillDisk(scene.dataDirectory);
      try {
        await until(says('full'));
        expect(await readiness()).toMatchObject({ status: 503, retry: '5' });
      } finally {
        makeRoom();
      }
      await until(isReady);
      await expectWork();
    },
  );
});

/** Ends every session of the gateway and waits until they are gone. */
async function cutSessions(): Promise<void> {
  await query(
    postgres.url,
    'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = user AND pid <> pg_backend_pid()',
  );
}

describe('sessions that die', () => {
  it('are replaced without failed requests', async () => {
    for (let round = 0; round < 3; round++) {
      await cutSessions();
      await until(isReady);
      await expectWork();
    }
  });
});

describe('a frozen database', () => {
  it('delays no path, and serves all when it recovers', async () => {
    const description = await describePaths();
    await chat().then((response) => response.text());
    const thaw = freezePostgres(scene.cluster);
    try {
      // The key is still cached: this request waits for a hold.
      expect(await inTime(chat())).toBe(503);
      const answers = description.map(async ({ method, path }) => {
        const answer = ask(method, path);
        return `${method} ${path} ${await inTime(answer)}`;
      });
      const found = await Promise.all(answers);
      const expected = description.map(({ method, path }) => `${method} ${path} 503`);
      expect(found).toEqual(expected);
      expect(found.length).toBeGreaterThan(60);
      expect((await gateway.fetch('/metrics')).status).toBe(503);
      expect(await readiness()).toEqual({ status: 503, database: 'silent', retry: '5' });
    } finally {
      thaw();
    }
    await until(isReady);
    await expectWork();
  });
});

describe('a stopped database', () => {
  it('answers 503 at once, and serves again when it is back, even at another address', async () => {
    await postgres.stop();
    expect(await inTime(chat())).toBe(503);
    expect(await inTime(asManager('/v1/customer/logs'))).toBe(503);
    expect(await inTime(makeKey())).toBe(503);
    // Results are cached for a quarter of a second.
    await until(async () => (await gateway.fetch('/metrics')).status === 503);
    expect(await readiness()).toMatchObject({ status: 503, database: 'unreachable' });
    await startPostgres();
    await until(isReady);
    await expectWork();
  });
});

/** Returns every operation that needs the database, from the service's own description. */
async function describePaths(): Promise<{ method: string; path: string }[]> {
  const { paths } = (await (await gateway.fetch('/docs-json')).json()) as {
    paths: Record<string, Record<string, { 'x-aliases'?: string[] }>>;
  };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      [path, ...(operation['x-aliases'] ?? [])]
        .filter((one) => !OTHERS.has(one) && !one.startsWith('/v1/auth'))
        .map((one) => ({ method: method.toUpperCase(), path: one })),
    ),
  );
}

function ask(method: string, path: string): Promise<Response> {
  const filled = path.replaceAll(/\{[^}]+\}/g, 'sandbox');
  const isCustomers = /^\/(api\/)?v1\/(customer|credits)/.test(filled);
  const key = isCustomers ? gateway.managementKey : gateway.apiKey;
  const hasBody = method === 'POST' || method === 'PATCH' || method === 'PUT';
  return gateway.fetch(filled, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(hasBody && { body: '{}' }),
    redirect: 'manual',
  });
}
