import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { copyFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { runCommand } from '../../src/app/commands/run-command.js';
import { loadSettings } from '../../src/app/load-settings.js';
import { startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { spawnGateway, type SpawnedGateway } from '../support/spawn-gateway.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { readStream } from '../support/streamed-answer.js';
import { until } from '../support/until.js';
import { delta, DONE, finish, usageChunk } from '../support/vendor-stream.js';

const API_KEY = 'sk-silent-database-key-1';
const HELLO = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };
const STREAMS = 30;
const DRAIN_SECONDS = 1;

describe('a database that keeps its connections but stops answering', () => {
  let own: TestDatabase;
  let proxy: TcpProxy;
  let fake: FakeOpenAi;
  let dataDirectory: string;
  let environment: Record<string, string>;
  let gateway: SpawnedGateway;

  const ask = (): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...HELLO, stream: true }),
    });

  beforeAll(async () => {
    own = await createTestDatabase();
    proxy = await TcpProxy.before(own.url);
    dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-silent-database-'));
    fake = await startFakeOpenAi();
    environment = {
      GATEWAY_DATA_DIR: dataDirectory,
      GATEWAY_SECRET: 'a-secret-for-tests-of-enough-length',
      GATEWAY_BOOTSTRAP_API_KEY: API_KEY,
      OPENAI_API_KEY: 'sk-vendor',
      OPENAI_BASE_URL: fake.baseUrl,
      GATEWAY_DRAIN_SECONDS: String(DRAIN_SECONDS),
    };
    gateway = await spawnGateway({ ...environment, DATABASE_URL: proxy.inFrontOf(own.url) });
    let answerNow = (): void => undefined;
    const release = new Promise<void>((resolve) => (answerNow = resolve));
    fake.answer = async ({ headers }, response) => {
      expect(headers.authorization).toBe('Bearer sk-vendor');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(delta({ role: 'assistant', content: 'Hello' }));
      await release;
      response.end(finish() + usageChunk() + DONE);
    };
    const streams = Array.from({ length: STREAMS }, async () => readStream(await ask()));
    await until(() => fake.calls.length === STREAMS);
    proxy.silence();
    // Outlasts cached results.
    await wait(300);
    answerNow();
    for (const { isDone } of await Promise.all(streams)) expect(isDone).toBe(true);
  });
  afterAll(async () => {
    await gateway.stop('SIGKILL');
    await proxy.cut();
    await fake.close();
    await own.drop();
    await rm(dataDirectory, { recursive: true, force: true });
  });

  it('delays neither callers nor health checks, however many came before', async () => {
    const callAndProbe = async (): Promise<void> => {
      const startedMs = performance.now();
      const probes = Array.from({ length: 12 }, () => fetch(`${gateway.url}/readyz`));
      const [caller, metrics] = await Promise.all([ask(), fetch(`${gateway.url}/metrics`)]);
      // 5 s on an idle machine, and a minute if the probes waited for each other.
      expect(performance.now() - startedMs).toBeLessThan(30_000);
      expect([caller.status, caller.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await caller.json()).toMatchObject({
        error: { type: 'provider_unavailable', param: 'database' },
      });
      expect([metrics.status, metrics.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await metrics.text()).toContain('gateway_requests_total{');
      for (const probe of await Promise.all(probes)) {
        expect(probe.status).toBe(503);
        expect(await probe.json()).toMatchObject({ status: 'unavailable', database: 'silent' });
      }
    };
    // The second round starts while the first one waits, and must not queue.
    await Promise.all([callAndProbe(), wait(500).then(callAndProbe)]);
  });

  it('does not prevent the service from stopping, which stores uncharged settlements', async () => {
    const startedMs = performance.now();
    expect(await gateway.stop()).toBe(1);
    expect(performance.now() - startedMs).toBeLessThan((DRAIN_SECONDS + 30) * 1_000);
    const path = await journalOf();
    expect(gateway.output()).toMatch(
      new RegExp(
        `^${STREAMS} settlements could not .* \\\`npm run gateway -- settle ${path}\\\`$`,
        'm',
      ),
    );
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('leaves them to the next start, or to a concurrent command, exactly once', async () => {
    const copy = join(dataDirectory, 'copy.jsonl');
    await copyFile(await journalOf(), copy);
    const printed: string[] = [];
    const command = runCommand(['settle', copy], {
      loadConfig: () => loadSettings({ ...environment, DATABASE_URL: own.url }),
      print: (line) => printed.push(line),
      printError: (line) => printed.push(line),
    });
    gateway = await spawnGateway({ ...environment, DATABASE_URL: own.url });
    expect([await command, printed]).toEqual([0, expect.anything()]);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    const byStart = /gateway_settlements_total\{fate="recovered"\} (\d+)/.exec(metrics)?.[1];
    const byCommand = /^Booked (\d+) settlements/.exec(printed[0]!)?.[1];
    expect(Number(byStart ?? 0) + Number(byCommand)).toBe(STREAMS);

    const { rows } = await own.database.query<{ outcome: string; cost: number }>(
      'SELECT outcome, cost FROM request_logs',
    );
    const [{ cost } = { cost: 0 }] = rows;
    expect(cost).toBeGreaterThan(0);
    expect(rows).toEqual(Array.from({ length: STREAMS }, () => ({ outcome: 'completed', cost })));
    const charges = await own.database.query<{ amount: number }>(
      "SELECT amount FROM ledger_entries WHERE kind = 'charge'",
    );
    expect(charges.rows).toEqual(Array.from({ length: STREAMS }, () => ({ amount: -cost })));
    expect((await own.database.query('SELECT FROM holds')).rows).toEqual([]);
    expect(await findLedgerFaults(own.database)).toEqual([]);
    await expect(journalOf()).rejects.toThrow('no journal');
    expect(await gateway.stop()).toBe(0);
  });

  /** @throws Error when there is none */
  async function journalOf(): Promise<string> {
    const folder = join(dataDirectory, 'settlements');
    const name = (await readdir(folder)).find((entry) => entry.endsWith('.jsonl'));
    if (name === undefined) throw new Error('no journal');
    return join(folder, name);
  }
});
