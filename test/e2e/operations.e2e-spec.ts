import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { describeWithoutService } from '../../src/app/openapi.js';
import { withAliases, type ApiDescription } from '../support/api-description.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { spawnGateway, type SpawnedGateway } from '../support/spawn-gateway.js';
import { until } from '../support/until.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const API_KEY = 'sk-operations-test-key-1';
const METRICS_TOKEN = 'metrics-token-of-enough-length';

const hello = {
  model: 'sandbox/echo',
  messages: [{ role: 'user', content: 'Hello secret prompt' }],
};

describe('GET /metrics', () => {
  let gateway: BootedGateway;

  beforeAll(async () => {
    gateway = await bootGateway({ GATEWAY_METRICS_TOKEN: METRICS_TOKEN });
  });
  afterAll(() => gateway.close());

  const read = (): Promise<Response> =>
    gateway.fetch('/metrics', { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });

  it('counts requests, errors, tokens, charges and ledger times, without naming tenants', async () => {
    await gateway.post('/v1/chat/completions', hello).then((response) => response.text());
    await gateway
      .post('/v1/chat/completions', { ...hello, model: 'sandbox/fault-500' })
      .then((response) => response.text());
    await gateway.fetch('/v1/unknown').then((response) => response.text());

    const response = await read();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    const text = await response.text();
    const labels = 'endpoint="chat",provider="sandbox",model="sandbox/echo"';
    expect(text).toContain(`gateway_requests_total{${labels},outcome="completed"} 1`);
    expect(text).toMatch(/gateway_requests_total\{.*fault-500",outcome="failed"\} 1/);
    expect(text).toMatch(/gateway_route_attempts_total\{.*fault-500",outcome="server"\} 2/);
    expect(text).toContain('gateway_errors_total{type="not_found_error",status="404"} 1');
    expect(text).toMatch(/gateway_tokens_total\{.*direction="output"\} 5/);
    expect(text).toMatch(
      /gateway_charged_credits_total\{provider="sandbox",model="sandbox\/echo"\} \d+/,
    );
    expect(text).toMatch(/gateway_hold_seconds_count 2/);
    expect(text).toMatch(/gateway_settle_seconds_count 2/);
    expect(text).toContain('gateway_ledger_pending_settlements 0');
    expect(text).not.toContain(gateway.tenantId);
  });

  it('shows open requests, database usage, routes and running work', async () => {
    const inFlight = async (): Promise<string | undefined> =>
      /^gateway_requests_in_flight (\d+)$/m.exec(await (await read()).text())?.[1];
    const disconnecting = new AbortController();
    const hanging = gateway.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...hello, model: 'sandbox/fault-hang' }),
      signal: disconnecting.signal,
    });
    await until(async () => (await inFlight()) === '1');
    disconnecting.abort();
    await expect(hanging).rejects.toThrow();
    await until(async () => (await inFlight()) === '0');
    for (let call = 0; call < 3; call++) {
      const failed = { ...hello, model: 'sandbox/fault-500' };
      await (await gateway.post('/v1/chat/completions', failed)).text();
    }
    const text = await (await read()).text();
    const route = (model: string, state: string) =>
      `gateway_route_state{provider="sandbox",model="sandbox/${model}",state="${state}"}`;
    expect(text).toContain(`${route('echo', 'healthy')} 1\n`);
    expect(text).toContain(`${route('echo', 'open')} 0\n`);
    expect(text).toContain(`${route('fault-500', 'open')} 1\n`);
    expect(text).toContain('gateway_database_connections_max{pool="requests"} 10\n');
    expect(text).toMatch(/gateway_database_connections\{pool="ledger",state="idle"\} [12]\n/);
    expect(text).toContain('gateway_database_waiting{pool="requests"} 0\n');
    expect(text).toContain('gateway_holds_swept_total 0\n');
    expect(text).toMatch(
      /gateway_build_info\{version="\d+\.\d+\.\d+",node="v\d+\.[^"]+",catalogue="[0-9a-f]{12,16}"\} 1\n/,
    );
    expect(text).toContain('gateway_request_seconds_bucket{le="600",provider="sandbox"');
  });

  it('has each metric in the dashboard, the alerts and the documentation', async () => {
    const text = await (await read()).text();
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
    const exposed = types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? [name, `${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    );
    const named = (file: string): string[] => [
      ...new Set(
        readFileSync(file, 'utf8').match(/\b(?:gateway|nodejs|process)_[a-z0-9_]*[a-z0-9]\b/g),
      ),
    ];
    const words = /^gateway_(worker|id)$|^process_start$/;
    for (const file of [
      'docker/grafana/dashboards/model-gateway.json',
      'docker/prometheus/alerts.yml',
      'docs/operations.md',
    ]) {
      const unknown = named(file).filter((name) => !words.test(name) && !exposed.includes(name));
      expect({ file, unknown }).toEqual({ file, unknown: [] });
    }
    const documented = readdirSync('docs', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.startsWith('runbooks'))
      .flatMap((name) => named(`docs/${name}`));
    const own = types.map(([, name = '']) => name).filter((name) => name.startsWith('gateway_'));
    expect(own.filter((name) => !documented.includes(name))).toEqual([]);
    expect(own.length).toBeGreaterThan(30);
  });

  it.each([
    '/metrics/',
    '/METRICS',
    '/Metrics',
    '//metrics',
    '/%6detrics',
    '/metrics%23',
    '/metrics%3f',
    '/metrics;x',
    '/openai/metrics',
  ])('is not found at %s, which a proxy may not block', async (path) => {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    const response = await gateway.fetch(path, { headers });
    expect(response.status).toBe(404);
    await response.text();
  });

  it('is not found at a path with a fragment, which proxies read differently', async () => {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    const { port } = new URL(gateway.url);
    for (const path of ['/metrics#', '/metrics#/v1', '/metrics?a#b']) {
      const [response] = (await once(
        get({ port, path, headers, host: '127.0.0.1' }),
        'response',
      )) as [IncomingMessage];
      response.resume();
      expect({ path, status: response.statusCode }).toEqual({
        path,
        status: path.includes('?') ? 200 : 404,
      });
    }
  });

  it('is the only documented path that the chart’s ingress omits', async () => {
    const description = (await (await gateway.fetch('/docs-json')).json()) as ApiDescription;
    const { ingress } = parse(readFileSync('docker/helm/values.yaml', 'utf8')) as {
      ingress: { paths: string[] };
    };
    const isExposed = (path: string): boolean =>
      ingress.paths.some((each) => path === each || (each !== '/' && path.startsWith(`${each}/`)));
    const paths = Object.keys(withAliases(description));
    expect(paths.filter((path) => !isExposed(path))).toEqual(['/metrics']);
  });

  it('requires the token', async () => {
    for (const authorization of ['', 'Bearer wrong', `Bearer ${gateway.apiKey}`]) {
      const response = await gateway.fetch('/metrics', { headers: { authorization } });
      expect(response.status).toBe(401);
      await response.text();
    }
  });
});

describe('GET /readyz', () => {
  let gateway: BootedGateway;

  beforeAll(async () => {
    gateway = await bootGateway({});
  });
  afterAll(() => gateway.close());

  const fields = async (headers: Record<string, string>): Promise<string[]> =>
    Object.keys((await (await fetch(`${gateway.url}/readyz`, { headers })).json()) as object);

  it('shows details to this machine and to operators', async () => {
    const all = ['status', 'database', 'rate_limits', 'queue', 'degraded', 'reasons', 'config'];
    expect(await fields({})).toEqual(all);
    const proxied = { 'x-forwarded-for': '203.0.113.7' };
    const authorization = `Bearer ${gateway.adminKey}`;
    expect(await fields({ ...proxied, authorization })).toEqual(all);
  });

  it('shows only the status to a mesh proxy, which uses another loopback address', async () => {
    const { port } = new URL(gateway.url);
    const options = { port, path: '/readyz', host: '127.0.0.1', localAddress: '127.0.0.2' };
    const [response] = (await once(get(options), 'response')) as [IncomingMessage];
    expect(await text(response)).toBe('{"status":"ok"}');
  });

  it.each([
    'x-forwarded-for',
    'x-forwarded-proto',
    'x-real-ip',
    'forwarded',
    'via',
    'true-client-ip',
  ])('shows only the status to requests with %s', async (name) => {
    expect(await fields({ [name]: '203.0.113.7' })).toEqual(['status']);
    const authorization = `Bearer ${gateway.apiKey}`;
    expect(await fields({ [name]: '203.0.113.7', authorization })).toEqual(['status']);
    const wrong = `Bearer sk-admin-${'x'.repeat(43)}`;
    expect(await fields({ [name]: '127.0.0.1', authorization: wrong })).toEqual(['status']);
  });
});

describe('the service as a process', () => {
  let database: TestDatabase;
  let dataDirectory: string;
  let gateway: SpawnedGateway;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-operations-'));
    await chmod(dataDirectory, 0o711);
    gateway = await spawnGateway({
      DATABASE_URL: database.url,
      GATEWAY_DATA_DIR: dataDirectory,
      GATEWAY_SECRET: 'a-secret-for-tests-of-enough-length',
      GATEWAY_BOOTSTRAP_API_KEY: API_KEY,
      GATEWAY_SANDBOX: 'true',
    });
  });
  afterAll(async () => {
    await gateway.stop('SIGKILL');
    await database.drop();
    await rm(dataDirectory, { recursive: true, force: true });
  });

  it('runs from a bundle, which describes itself like its modules and finds the files next to them', async () => {
    const description = await (await fetch(`${gateway.url}/docs-json`)).text();
    expect(JSON.parse(description)).toEqual(
      JSON.parse(JSON.stringify(await describeWithoutService())),
    );
    // Query validation uses packages that Nest loads on first use.
    const unknown = await fetch(`${gateway.url}/v1/generation?id=none`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    expect(unknown.status).toBe(404);
    await unknown.text();
    const style = await fetch(`${gateway.url}/docs/swagger-ui.css`);
    expect(style.status).toBe(200);
    expect((await style.text()).length).toBeGreaterThan(10_000);
    expect(readFileSync('dist/src/main.js', 'utf8')).toMatch(
      /^import \{ loadBundle \} from '[.]{2}\/service\/load[.]mjs';\n/,
    );
  });

  it('starts from code precompiled by the build, which this version of Node accepts', async () => {
    const loads = `import('./dist/service/load.mjs').then((m) => console.log(m.loadBundle().script.cachedDataRejected))`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', loads]);
    expect(stdout).toBe('false\n');
  });

  it('logs one JSON line per request, with its id and without keys or prompts', async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(hello),
    });
    await response.text();
    const id = response.headers.get('x-request-id')!;
    const failed = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...hello, model: 'sandbox/fault-503' }),
    });
    await failed.text();
    const failedId = failed.headers.get('x-request-id')!;
    // Requests that no handler sees: not HTTP, no host, an unsupported expectation.
    const early = await Promise.all([
      sendRaw(gateway.url, 'nonsense\r\n\r\n'),
      sendRaw(gateway.url, 'GET /v1/models HTTP/1.1\r\n\r\n'),
      sendRaw(gateway.url, 'GET /v1/models?x HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n'),
    ]);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    for (const probe of ['/healthz', '/readyz?verbose']) {
      expect((await fetch(gateway.url + probe)).status).toBe(200);
    }
    // Not found, but not a health check's path either.
    await (await fetch(`${gateway.url}/healthz/x`)).text();
    expect((await fetch(`${gateway.url}/metrics`, { method: 'POST' })).status).toBe(405);
    expect(metrics).toMatch(/gateway_errors_total\{type="invalid_request_error",status="417"\} 1/);
    expect(metrics).toMatch(/gateway_errors_total\{type="invalid_request_error",status="400"\} 2/);
    expect(await gateway.stop()).toBe(0);

    const lines = gateway
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const paths = lines.map(({ path }) => path);
    expect(paths.filter((path) => path === '/healthz' || path === '/readyz')).toEqual([]);
    expect(paths).toContain('/healthz/x');
    // Failing health checks are logged.
    expect(lines.filter(({ path }) => path === '/metrics')).toEqual([
      expect.objectContaining({ method: 'POST', status: 405 }),
    ]);
    const own = lines.filter((line) => line.request_id === id);
    expect(own).toHaveLength(1);
    expect(own[0]).toMatchObject({
      level: 'info',
      method: 'POST',
      path: '/v1/chat/completions',
      status: 200,
      provider: 'sandbox',
    });
    const earlyLines = early.map((answer) => {
      const earlyId = /^x-request-id: (\S+)/im.exec(answer)![1];
      return lines.filter((line) => line.request_id === earlyId);
    });
    expect(earlyLines).toEqual([
      [expect.objectContaining({ level: 'info', status: 400 })],
      [expect.objectContaining({ method: 'GET', path: '/v1/models', status: 400 })],
      [expect.objectContaining({ method: 'GET', path: '/v1/models', status: 417 })],
    ]);
    // A failed call is logged with the failure, the status and the request, but not the vendor's message.
    expect(lines.find((line) => line.request_id === failedId)).toEqual({
      level: 'warn',
      time: expect.any(String) as unknown,
      request_id: failedId,
      context: 'RoutingService',
      msg: 'sandbox/fault-503 failed: server, status 503',
    });
    expect(gateway.output()).not.toContain('secret prompt');
    expect(gateway.output()).not.toContain(API_KEY);
  });
});

/** Returns the response to these bytes until the connection ends. */
async function sendRaw(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.end(bytes);
  return text(socket);
}

describe('an address that cannot be used', () => {
  it('is named by its variable', async () => {
    const gateway = await bootGateway();
    try {
      const { port } = new URL(gateway.url);
      await expect(bootGateway({ PORT: port })).rejects.toThrow('PORT must be');
      await expect(bootGateway({ HOST: '192.0.2.1' })).rejects.toThrow('HOST must be');
    } finally {
      await gateway.close();
    }
  });
});
