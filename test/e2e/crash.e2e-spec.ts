import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { politeAnswer, startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { spawnGateway, type SpawnedGateway } from '../support/spawn-gateway.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { within } from '../support/within.js';

const STREAMS = 60;
const API_KEY = 'sk-crash-test-key-000001';

describe('a service stopped while streams run', () => {
  let fake: FakeOpenAi;
  let database: TestDatabase;
  let dataDirectory: string;
  let gateway: SpawnedGateway | undefined;
  /** The killed service's database. Its successor sweeps holds while other tests run. */
  let databaseOfKilled: TestDatabase;
  let successor: SpawnedGateway | undefined;
  let readOfKilled: Read[];

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    [database, databaseOfKilled] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-crash-'));
    await chmod(dataDirectory, 0o711);
    await killWhileStreamsRun();
  });
  afterEach(async () => {
    await gateway?.stop('SIGKILL');
  });
  afterAll(async () => {
    await Promise.all([gateway?.stop('SIGKILL'), successor?.stop('SIGKILL')]);
    await fake.close();
    await database.drop();
    await databaseOfKilled.drop();
    await rm(dataDirectory, { recursive: true, force: true });
  });

  const start = (rest: Record<string, string> = {}): Promise<SpawnedGateway> =>
    spawnGateway({
      DATABASE_URL: database.url,
      GATEWAY_DATA_DIR: dataDirectory,
      GATEWAY_SECRET: 'a-secret-for-tests-of-enough-length',
      GATEWAY_BOOTSTRAP_API_KEY: API_KEY,
      GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE: '100000',
      GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
      OPENAI_API_KEY: 'sk-vendor',
      OPENAI_BASE_URL: fake.baseUrl,
      ...rest,
    });

  const chat = (url: string): Promise<Response> =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'openai/gpt-4o-mini',
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    });

  interface Read {
    id: string;
    isComplete: boolean;
  }

  /** Reads a stream until it ends or breaks. */
  const readStream = async (url: string): Promise<Read> => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'openai/gpt-4o-mini',
        stream: true,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    });
    const id = response.headers.get('x-request-id') ?? '';
    const decoder = new TextDecoder();
    let text = '';
    try {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        text += decoder.decode(chunk, { stream: true });
      }
    } catch {
      // The connection broke: what was read counts.
    }
    return { id, isComplete: text.endsWith('data: [DONE]\n\n') };
  };

  const killWhileStreamsRun = async (): Promise<void> => {
    const { database: books, url: databaseUrl } = databaseOfKilled;
    gateway = await start({ DATABASE_URL: databaseUrl });
    let started = 0;
    fake.answer = (call, response) => {
      const delay = 2 + (started++ % 10) * 5;
      return politeAnswer({ text: 'word '.repeat(30), chunkDelayMs: delay })(call, response);
    };
    const { url } = gateway;
    let ended = 0;
    const reads = Array.from({ length: STREAMS }, () =>
      readStream(url).then(
        (read) => {
          ended++;
          return read;
        },
        () => undefined,
      ),
    );
    // By then some streams have ended and most have not.
    await until(() => ended >= 10);
    await gateway.stop('SIGKILL');
    readOfKilled = (await Promise.all(reads)).filter((read) => read !== undefined);
    // Makes the instance look dead at once instead of waiting.
    await books.query("UPDATE instances SET heartbeat_at = now() - interval '1 minute'");
    successor = await start({ DATABASE_URL: databaseUrl });
  };

  it('SIGTERM: running streams end, everything is settled, and it exits 0', async () => {
    fake.answer = politeAnswer({ text: 'word '.repeat(50), chunkDelayMs: 30 });
    gateway = await start();
    const { url } = gateway;
    fake.calls.length = 0;
    const reads = Array.from({ length: STREAMS }, () => readStream(url));
    await until(() => fake.calls.length >= STREAMS);
    const [exit, ...results] = await Promise.all([gateway.stop('SIGTERM'), ...reads]);
    expect(exit).toBe(0);
    expect(results.filter(({ isComplete }) => isComplete)).toHaveLength(STREAMS);
    const { rows } = await database.database.query(
      'SELECT count(*) FROM request_logs WHERE request_id = ANY($1::uuid[]) AND outcome = $2',
      [results.map(({ id }) => id), 'completed'],
    );
    expect(rows).toEqual([{ count: STREAMS }]);
    expect(await findLedgerFaults(database.database)).toEqual([]);
  });

  it('SIGTERM with a lame duck period: exits 0 when the period is over', async () => {
    gateway = await start({ GATEWAY_LAME_DUCK_SECONDS: '2' });
    const startedMs = performance.now();
    expect(await gateway.stop('SIGTERM')).toBe(0);
    expect(performance.now() - startedMs).toBeGreaterThan(1_900);
  });

  it('SIGHUP drains: serves during the lame duck period, which a second signal ends', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    fake.answer = async (call, response) => {
      await released;
      return politeAnswer()(call, response);
    };
    gateway = await start({ GATEWAY_LAME_DUCK_SECONDS: '600' });
    const { url } = gateway;
    const readiness = async (): Promise<number> => (await fetch(`${url}/readyz`)).status;
    expect(await readiness()).toBe(200);
    fake.calls.length = 0;
    const answered = chat(url);
    await until(() => fake.calls.length === 1);
    const exit = gateway.stop('SIGHUP');
    await until(async () => (await readiness()) === 503);
    fake.answer = politeAnswer();
    // Over old and new connections alike; the header says that each is used for the last time.
    for (let request = 0; request < 5; request++) {
      const response = await chat(url);
      expect(response.headers.get('connection')).toBe('close');
      expect(response.status).toBe(200);
      await response.text();
    }
    // A second signal within a second counts as the first.
    await wait(1_100);
    gateway.process.kill('SIGTERM');
    await wait(100);
    release();
    expect((await answered).status).toBe(200);
    expect(await exit).toBe(0);
  });

  it('kill -9: no hold is left, every complete answer is settled once, the others crashed at cost 0; SIGTERM while idle exits', async () => {
    const complete = readOfKilled.filter(({ isComplete }) => isComplete);
    expect(complete.length).toBeGreaterThan(0);
    const { database: books } = databaseOfKilled;
    const openHolds = async (): Promise<number> =>
      (await books.query<{ count: number }>('SELECT count(*) FROM holds')).rows[0]!.count;
    await until(async () => (await openHolds()) === 0, 70_000);
    expect(await findLedgerFaults(books)).toEqual([]);

    const { rows } = await books.query<{
      request_id: string;
      outcome: string;
      cost: number;
    }>('SELECT request_id, outcome, cost FROM request_logs');
    const byId = new Map(rows.map((row) => [row.request_id, row]));
    expect(byId.size).toBe(rows.length);
    for (const { id } of complete) expect(byId.get(id)?.outcome).toBe('completed');
    const crashed = rows.filter((row) => row.outcome === 'crashed');
    expect(crashed.length).toBeGreaterThan(0);
    for (const row of crashed) expect(row.cost).toBe(0);
    const charges = await books.query(
      'SELECT request_id FROM ledger_entries WHERE request_id IS NOT NULL GROUP BY 1 HAVING count(*) > 1',
    );
    expect(charges.rows).toEqual([]);

    expect(await within(20_000, successor!.stop('SIGTERM'))).toBe(0);
  });
});
