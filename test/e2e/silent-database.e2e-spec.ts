import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnGateway, type SpawnedGateway } from '../support/spawn-gateway.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const API_KEY = 'sk-silent-database-key-1';
const HELLO = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] };

describe('a database that keeps its connections and says nothing more', () => {
  let own: TestDatabase;
  let proxy: TcpProxy;
  let dataDirectory: string;
  let gateway: SpawnedGateway;

  const ask = (): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(HELLO),
    });

  beforeAll(async () => {
    own = await createTestDatabase();
    const url = new URL(own.url);
    proxy = new TcpProxy({ host: url.hostname, port: Number(url.port) });
    await proxy.open();
    url.port = String(proxy.port);
    dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-silent-database-'));
    gateway = await spawnGateway({
      DATABASE_URL: url.href,
      GATEWAY_DATA_DIR: dataDirectory,
      GATEWAY_SECRET: 'a-secret-for-tests-of-enough-length',
      GATEWAY_BOOTSTRAP_API_KEY: API_KEY,
      GATEWAY_SANDBOX: 'true',
      GATEWAY_DRAIN_SECONDS: '1',
    });
    const answered = await ask();
    expect(answered.status).toBe(200);
    await answered.text();
    proxy.silence();
  });
  afterAll(async () => {
    await gateway.stop('SIGKILL');
    await proxy.cut();
    await own.drop();
    await rm(dataDirectory, { recursive: true, force: true });
  });

  it('keeps neither callers nor probes waiting, however many have come before', async () => {
    for (let round = 0; round < 2; round++) {
      const startedMs = performance.now();
      const probes = Array.from({ length: 12 }, () => fetch(`${gateway.url}/readyz`));
      const [caller, metrics] = await Promise.all([ask(), fetch(`${gateway.url}/metrics`)]);
      expect(performance.now() - startedMs).toBeLessThan(45_000);
      expect(caller.status).toBe(500);
      expect(await caller.json()).toMatchObject({ error: { type: 'internal_error' } });
      expect(metrics.status).toBe(200);
      expect(await metrics.text()).toContain('gateway_requests_total{');
      for (const probe of await Promise.all(probes)) expect(probe.status).toBe(503);
    }
  });

  it('does not keep a service from its end', async () => {
    expect(await gateway.stop()).toBe(1);
    expect(gateway.output()).toContain('the database is silent');
  });
});
