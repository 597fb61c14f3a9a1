import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BodyBudget, type BodyLease } from '../../src/platform/http/body-budget.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { expectError, partsOf } from '../support/error-answers.js';
import { CHAT, MESSAGES, RESPONSES } from '../support/paths.js';
import { RawConnection, requestHead } from '../support/raw-connection.js';
import { USER } from '../support/refusals.js';
import { until } from '../support/until.js';
import { bytesOfUploads, wave } from '../support/uploads.js';

const MAX_IN_FLIGHT = 3;
/** Maximum number of pipelined requests per connection. */
const IN_A_ROW = 15;
const HANGING = { model: 'sandbox/fault-hang', messages: [USER] };
const GOOD = { model: 'sandbox/echo', messages: [USER] };

describe('a flood', () => {
  let gateway: BootedGateway;

  beforeAll(async () => {
    gateway = await bootGateway({
      GATEWAY_MAX_IN_FLIGHT_PER_KEY: String(MAX_IN_FLIGHT),
      GATEWAY_MAX_IN_FLIGHT_PER_TENANT: String(MAX_IN_FLIGHT + 1),
      GATEWAY_BODY_BUDGET_MB: '100',
      GATEWAY_UPLOAD_BUDGET_MB: '100',
      GATEWAY_MANAGEMENT_RATE_LIMIT_PER_MINUTE: '30',
      GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE: '10000',
      // Lets each case of wrong keys use a separate address.
      GATEWAY_TRUSTED_PROXIES: '127.0.0.0/8, ::1',
    });
  });
  afterAll(async () => {
    await gateway.close();
  });

  const refused = async (answer: Response, status: number, type: string, param: string) => {
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expectError(await partsOf(answer), status, type, param);
  };
  const isServed = async (): Promise<boolean> => {
    const answer = await gateway.post(CHAT, GOOD);
    await answer.text();
    return answer.status === 200;
  };

  describe('of open requests', () => {
    it('is limited per key and tenant, and frees slots as requests end', async () => {
      const leaving = new AbortController();
      const open = Array.from({ length: MAX_IN_FLIGHT }, () => hang(leaving.signal));
      await until(async () => !(await isServed()));
      const answer = await gateway.post(CHAT, GOOD);
      expect(answer.headers.get('x-ratelimit-limit')).toBe('10000');
      await refused(answer, 429, 'rate_limit_error', 'max_in_flight_per_key');

      const other = await otherKey();
      open.push(hang(leaving.signal, other));
      await until(async () => {
        const late = await gateway.post(CHAT, GOOD, other);
        const body = (await late.json()) as { error?: { param: string } };
        return body.error?.param === 'max_in_flight_per_tenant';
      });
      leaving.abort();
      await Promise.allSettled(open);
      await until(isServed);
      const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
      expect(metrics).toMatch(/gateway_limit_refusals_total\{limit="max_in_flight_per_key"\} \d/);
    });

    it('ends when a connection with several pipelined requests closes', async () => {
      const connection = await RawConnection.open(gateway.url);
      const body = JSON.stringify(HANGING);
      const request =
        requestHead(`POST ${CHAT} HTTP/1.1`, {
          authorization: `Bearer ${gateway.apiKey}`,
          'content-type': 'application/json',
          'content-length': body.length,
        }) + body;
      connection.send(request.repeat(MAX_IN_FLIGHT));
      await until(async () => {
        if (!(await isServed())) return true;
        // The check itself may have taken the slot of one of them.
        connection.send(request);
        return false;
      });
      connection.close();
      await until(isServed);
    });

    it('leaves no slot occupied, however requests end', async () => {
      for (let round = 0; round < MAX_IN_FLIGHT + 2; round++) {
        await (await gateway.post(CHAT, { model: 'no-slash', messages: [USER] })).text();
        await (await gateway.post(CHAT, { ...GOOD, stream: true })).text();
        await (await gateway.post(CHAT, { ...GOOD, model: 'sandbox/fault-cut' })).text();
        const connection = await RawConnection.open(gateway.url);
        connection.send(
          requestHead(`POST ${CHAT} HTTP/1.1`, {
            authorization: `Bearer ${gateway.apiKey}`,
            'content-length': 10,
          }) + '{',
        );
        connection.close();
      }
      await until(isServed);
    });

    async function hang(signal: AbortSignal, headers: Record<string, string> = {}): Promise<void> {
      const answer = await gateway.fetch(CHAT, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(HANGING),
        signal,
      });
      await answer.text();
    }
  });

  /** Occupies all but 5 MB of the tenant's share of body memory, so that small bodies fill it. */
  const takeMostRoom = (): BodyLease => {
    const budget = gateway.gateway.application.get(BodyBudget, { strict: false });
    const lease = budget.shareOf(gateway.tenantId).lease(undefined);
    lease.add(45_000_000);
    return lease;
  };

  it('of bodies is a 503 when they take too much memory, until they are done', async () => {
    const taken = takeMostRoom();
    const leaving = new AbortController();
    const large = (body: object, bytes: number): RequestInit =>
      post({ ...body, user: 'x'.repeat(bytes) }, {});
    // 3.8 MB for the body and its parsed form, which is released once the vendor was called.
    let first: Promise<void> | undefined;
    const hangOn = (): Promise<void> =>
      gateway
        .fetch(CHAT, { ...large(HANGING, 1_900_000), signal: leaving.signal })
        .then(async (answer) => void (await answer.text()))
        .catch(() => undefined)
        // It may be the one that is refused, when the other was read first.
        .finally(() => (first = undefined));
    await until(async () => {
      first ??= hangOn();
      const answer = await gateway.fetch(CHAT, large(GOOD, 1_900_000));
      if (answer.status !== 503) return (await answer.text()) === '';
      await refused(answer, 503, 'provider_unavailable', 'body');
      return first !== undefined;
    });
    const served = (bytes: number) => async (): Promise<boolean> => {
      const answer = await gateway.fetch(CHAT, large(GOOD, bytes));
      await answer.text();
      return answer.status === 200;
    };
    await until(served(1_500_000));
    leaving.abort();
    await first;
    await until(served(1_900_000));
    taken.release();
  });

  it('of turns that continue large ones is a 503 when these take too much memory', async () => {
    const taken = takeMostRoom();
    const items = [{ role: 'user', content: 'x'.repeat(1_500_000) }];
    const made = await gateway.post('/v1/conversations', { items });
    const { id } = (await made.json()) as { id: string };
    const turn = (model: string): object => ({
      model,
      input: 'Hi',
      conversation: id,
      store: false,
    });
    const leaving = new AbortController();
    const { signal } = leaving;
    // Repeats when it is refused itself because another one came first.
    const hang = async (): Promise<void> => {
      while (!signal.aborted) {
        await gateway
          .fetch(RESPONSES, { ...post(turn('sandbox/fault-hang'), {}), signal })
          .then((answer) => answer.text())
          .catch(() => undefined);
      }
    };
    const hanging = hang();
    const isServed = async (): Promise<boolean> => {
      const answer = await gateway.post(RESPONSES, turn('sandbox/echo'));
      if (answer.status === 503) await refused(answer, 503, 'provider_unavailable', 'body');
      else await answer.text();
      return answer.status === 200;
    };
    await until(async () => !(await isServed()));
    leaving.abort();
    await hanging;
    await until(isServed);
    taken.release();
  });

  it('of uploads is a 503 when they take too much of the disk, until they are done', async () => {
    const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';
    const hanging = await Promise.all([1, 2].map(() => RawConnection.open(gateway.url)));
    for (const connection of hanging) {
      connection.send(
        requestHead('POST /v1/audio/transcriptions HTTP/1.1', {
          authorization: `Bearer ${gateway.apiKey}`,
          'content-type': 'multipart/form-data; boundary=x',
          'content-length': 25_000_000,
        }) + head,
      );
      connection.send('\0'.repeat(24_000_000));
    }
    // The tenant's share is half of 100 MB.
    const upload = (): Promise<Response> => {
      const body = new FormData();
      body.append('model', 'sandbox/transcribe');
      body.append('file', wave(300_000), 'a.wav');
      return gateway.fetch('/v1/audio/transcriptions', { method: 'POST', body });
    };
    await until(async () => (await bytesOfUploads(gateway)) === 48_000_000);
    await refused(await upload(), 503, 'provider_unavailable', 'body');
    for (const connection of hanging) connection.close();
    await until(async () => {
      const answer = await upload();
      await answer.text();
      return answer.status === 200;
    });
  });

  it('of members in a body, on each endpoint, harms no other request', async () => {
    const members = Array.from({ length: 300_000 }, (_, index) => `"k${index}":0`).join(',');
    const startedMs = performance.now();
    for (const path of [CHAT, MESSAGES, '/v1/customer/api-keys']) {
      const answer = await gateway.fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{${members}}`,
      });
      expect([answer.status, await answer.text()]).toEqual([
        400,
        expect.stringContaining('100,000'),
      ]);
    }
    // Quadratic work would take minutes.
    expect(performance.now() - startedMs).toBeLessThan(30_000);
  });

  it('of management requests is limited per key, and separately for polls', async () => {
    const key = await otherKey();
    const get = (path: string): Promise<Response> => gateway.fetch(path, { headers: key });
    let answer = await get('/v1/models');
    for (let count = 0; count < 70 && answer.status === 200; count++)
      answer = await get('/v1/models');
    await refused(answer, 429, 'rate_limit_error', 'management_rate_limit_per_minute');
    for (let count = 0; count < 40; count++)
      expect((await get('/v1/jobs/job_no')).status).toBe(404);
    expect((await gateway.fetch(CHAT, post(GOOD, key))).status).toBe(200);
  });

  it('of requests without a key from one address fails no health check, and delays no other address', async () => {
    // More than may queue for pages.
    const crowdOf = async (path: string): Promise<RawConnection[]> => {
      const head = requestHead(`GET ${path} HTTP/1.1`, { 'x-forwarded-for': '198.51.100.3' });
      const opening = Array.from({ length: 40 }, () => RawConnection.open(gateway.url));
      const connections = await Promise.all(opening);
      for (const connection of connections) connection.send(head.repeat(IN_A_ROW));
      return connections;
    };
    const pages = await crowdOf('/metrics');
    for (const { socket } of pages) socket.pause();
    const probes = await crowdOf('/readyz');
    const ofProbes: number[] = [];
    const crowd = probes.map(async (probe) => {
      for (let count = 0; count < IN_A_ROW; count++) ofProbes.push((await probe.answer()).status);
    });
    const seen: number[] = [];
    for (const path of ['/readyz', '/metrics', '/healthz', '/docs']) {
      const headers = { 'x-forwarded-for': '198.51.100.4' };
      const answer = await fetch(gateway.url + path, { headers });
      await answer.arrayBuffer();
      seen.push(answer.status);
    }
    expect(seen).toEqual([200, 200, 200, 200]);
    expect(ofProbes.length).toBeLessThan(probes.length * IN_A_ROW);
    await Promise.all(crowd);
    expect(new Set(ofProbes)).toEqual(new Set([200]));
    for (const connection of [...probes, ...pages]) connection.close();
  });

  describe('of wrong keys', () => {
    it('gets 429 after a hundred, while valid keys from the same address are served', async () => {
      const from = { 'x-forwarded-for': '198.51.100.1' };
      const statuses = new Map<number, number>();
      for (let count = 0; count < 230; count++) {
        const key: Record<string, string> =
          count % 2 ? {} : { authorization: `Bearer sk-wrong-${count}` };
        const { status } = await fetch(gateway.url + CHAT, post(GOOD, { ...from, ...key }));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      // The minute may have changed meanwhile.
      expect(statuses.get(401)).toBeLessThanOrEqual(200);
      expect(statuses.get(429)).toBeGreaterThanOrEqual(30);
      expect((await gateway.fetch(CHAT, post(GOOD, from))).status).toBe(200);

      // Such a caller cannot keep its connection open either.
      const connection = await RawConnection.open(gateway.url);
      connection.send(
        requestHead(`POST ${CHAT} HTTP/1.1`, { ...from, 'content-length': 1_000_000 }),
      );
      const answer = await connection.answer();
      expect([401, 429]).toContain(answer.status);
      expect(answer.headers.connection).toBe('close');
      await connection.closed;
      connection.close();
    });

    it.each([
      ['that drips its body', { 'content-length': 1_000_000 }, '.'],
      ['that drips it in chunks', { 'transfer-encoding': 'chunked' }, '1\r\n.\r\n'],
      ['that sends a huge body', { 'content-length': 1e12 }, 'x'.repeat(1_000_000)],
      ['that pipelines requests', {}, requestHead(`GET /healthz HTTP/1.1`)],
    ])('is disconnected: one %s', async (_, fields, piece) => {
      const connection = await RawConnection.open(gateway.url);
      // The client keeps its side open when the server closes.
      connection.socket.allowHalfOpen = true;
      connection.send(
        requestHead(`POST ${CHAT} HTTP/1.1`, { 'x-forwarded-for': '198.51.100.2', ...fields }),
      );
      const timer = setInterval(() => connection.send(piece), 20);
      try {
        const answer = await connection.answer();
        expect([answer.status, answer.headers.connection]).toEqual([401, 'close']);
        const gone = new Promise((resolve) => connection.socket.once('close', resolve));
        await gone;
      } finally {
        clearInterval(timer);
        connection.close();
      }
    });
  });

  function post(body: object, headers: Record<string, string>): RequestInit {
    return {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    };
  }

  async function otherKey(): Promise<Record<string, string>> {
    // A key with its own limits, created by a management key.
    const authorization = `Bearer ${gateway.managementKey}`;
    const answer = await gateway.post(
      '/v1/customer/api-keys',
      { name: 'other' },
      { authorization },
    );
    const { key } = (await answer.json()) as { key: string };
    return { authorization: `Bearer ${key}` };
  }
});
