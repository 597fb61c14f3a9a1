import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { GatewayMetrics } from '../../src/platform/metrics/gateway-metrics.js';
import { OutboundClient } from '../../src/platform/outbound/outbound-client.js';
import { WebhookDeliveries } from '../../src/platform/outbound/webhook-deliveries.js';
import { WebhookDeliveryRepository } from '../../src/platform/outbound/webhook-delivery.repository.js';
import { WebhookSecrets } from '../../src/platform/outbound/webhook-secrets.js';
import { WebhookWorker } from '../../src/platform/outbound/webhook-worker.service.js';
import { WorkQueue, type WakeOptions } from '../../src/platform/queue/work-queue.js';
import type { WorkEngine } from '../../src/platform/durable-work/work-engine.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { openEngine, runRow } from '../support/work-engine.js';

// A machine that stalls for a second would make an attempt due too early.
jest.retryTimes(2);

const TENANT = randomUUID();

/** Records wake-ups instead of sending them. */
class QueueDouble {
  wakes: { key: string; delayMs: number | undefined }[] = [];
  isAway = false;

  async wake(_topic: string, key: string, options?: WakeOptions): Promise<void> {
    if (this.isAway) throw new Error('the queue is away');
    this.wakes.push({ key, delayMs: options?.delayMs });
  }
}

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

describe('webhooks', () => {
  let test: TestDatabase;
  let server: Server;
  let url: string;
  let client: OutboundClient;
  let received: Received[];
  let status: number;
  let running: number;
  let mostRunning: number;
  /** Number of deliveries that must arrive before any is answered. */
  let answersFrom: number;
  const queue = new QueueDouble();
  let secrets: WebhookSecrets;
  let metrics: GatewayMetrics;
  let deliveries: WebhookDeliveries;
  let worker: WebhookWorker;
  let engine: WorkEngine;
  let repository: WebhookDeliveryRepository;

  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.query('INSERT INTO tenants (id, name) VALUES ($1, $2)', [
      TENANT,
      'a tenant',
    ]);
    client = new OutboundClient({ allowPrivate: true });
    secrets = new WebhookSecrets('a-secret-of-at-least-32-characters', test.database);
    repository = new WebhookDeliveryRepository(test.database);
    server = createServer((request, response) => {
      running++;
      mostRunning = Math.max(mostRunning, running);
      let body = '';
      request.setEncoding('utf8').on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        received.push({ headers: request.headers, body });
        void until(() => mostRunning >= answersFrom).then(() =>
          setTimeout(() => {
            running--;
            response.writeHead(status).end();
          }, 20),
        );
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  });
  beforeEach(() => {
    received = [];
    status = 200;
    running = mostRunning = 0;
    answersFrom = 1;
    queue.wakes = [];
    queue.isAway = false;
    metrics = new GatewayMetrics();
    const port = queue as unknown as WorkQueue;
    deliveries = new WebhookDeliveries(port);
    engine = openEngine(test, queue);
    worker = new WebhookWorker(repository, client, secrets, metrics, engine);
  });
  afterEach(async () => {
    await engine.beforeApplicationShutdown();
    await test.database.query('DELETE FROM webhook_deliveries');
  });
  afterAll(async () => {
    await client.onApplicationShutdown();
    server.closeAllConnections();
    server.close();
    await test.drop();
  });

  const scopeKeyId = randomUUID();
  const enqueue = async (eventId: string = randomUUID(), to = url): Promise<string> => {
    const body = '{"é":1}';
    const id = await test.database.transaction((connection) =>
      deliveries.enqueue(connection, { tenantId: TENANT, url: to, eventId, body, scopeKeyId }),
    );
    return id!;
  };
  const deliver = (id: string): Promise<void> => runRow(worker, id);
  const rowOf = async (id: string) => {
    const { rows } = await test.database.query<Record<string, unknown>>(
      'SELECT *, extract(epoch FROM next_attempt_at) AS due FROM webhook_deliveries WHERE id = $1',
      [id],
    );
    return rows[0];
  };
  const databaseSeconds = async (): Promise<number> => {
    const { rows } = await test.database.query<{ now: string }>(
      'SELECT extract(epoch FROM now()) AS now',
    );
    return Number(rows[0]!.now);
  };
  const makeDue = (id: string) =>
    test.database.query('UPDATE webhook_deliveries SET next_attempt_at = now() WHERE id = $1', [
      id,
    ]);
  const counted = async (outcome: string): Promise<number> => {
    const text = await metrics.registry.getSingleMetricAsString('gateway_webhook_deliveries_total');
    return Number(new RegExp(`outcome="${outcome}"} (\\d+)`).exec(text)?.[1] ?? 0);
  };

  it('are enqueued in the transaction that causes them, once per event', async () => {
    await expect(
      test.database.transaction(async (connection) => {
        await deliveries.enqueue(connection, {
          ...{ tenantId: TENANT, url, eventId: 'e', body: '{}', scopeKeyId },
        });
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await enqueue('e')).toBeDefined();
    expect(await enqueue('e')).toBeUndefined();
  });

  it('wake a worker after the commit, which cannot fail', async () => {
    const id = await enqueue();
    await deliveries.announce(id);
    expect(queue.wakes).toEqual([{ key: id, delayMs: undefined }]);
    queue.isAway = true;
    await expect(deliveries.announce(id)).resolves.toBeUndefined();
  });

  it('are signed and delivered once', async () => {
    const id = await enqueue();
    await Promise.all([deliver(id), deliver(id), deliver(id)]);
    await deliver(id);
    expect(received).toHaveLength(1);
    const [{ headers, body }] = received as [Received];
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': id,
      'x-gateway-delivery': id,
    });
    const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(
      String(headers['x-gateway-signature']),
    )!;
    expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(60);
    const expected = createHmac('sha256', (await secrets.secretOf(TENANT))!).update(
      `${time}.${body}`,
    );
    expect(signature).toBe(expected.digest('hex'));
    expect(body).toBe('{"é":1}');
    expect(await rowOf(id)).toMatchObject({ state: 'delivered', attempts: 1, last_error: null });
    expect(await counted('delivered')).toBe(1);
  });

  it('pass the documented signature check, and forged ones fail it', async () => {
    const text = await readFile('docs/webhooks.md', 'utf8');
    const code = /```js\n(.*?)```/s.exec(text)![1]!;
    const { isGenuine } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
      isGenuine: (...values: unknown[]) => boolean;
    };
    await deliver(await enqueue());
    const [{ headers, body }] = received as [Received];
    const header = headers['x-gateway-signature'];
    const secret = await secrets.secretOf(TENANT);
    expect(isGenuine(header, body, secret)).toBe(true);
    expect(isGenuine(header, `${body} `, secret)).toBe(false);
    expect(isGenuine(header, body, `${secret}!`)).toBe(false);
    expect(isGenuine(header, body, secret, Date.now() / 1000 + 301)).toBe(false);
    expect(isGenuine(undefined, body, secret)).toBe(false);

    const { secret: rotated } = await secrets.rotate(TENANT);
    await deliver(await enqueue());
    const { headers: later, body: laterBody } = received[1]!;
    for (const good of [secret, rotated]) {
      expect(isGenuine(later['x-gateway-signature'], laterBody, good)).toBe(true);
    }
    expect(isGenuine(later['x-gateway-signature'], `${laterBody} `, secret)).toBe(false);
    await test.database.query(`UPDATE webhook_secrets SET previous_until = now()`);
    await deliver(await enqueue());
    const { headers: last, body: lastBody } = received[2]!;
    expect(isGenuine(last['x-gateway-signature'], lastBody, rotated)).toBe(true);
    expect(isGenuine(last['x-gateway-signature'], lastBody, secret)).toBe(false);
  });

  it('are retried while their secret cannot be read', async () => {
    await secrets.secretOf(TENANT);
    await test.database.query(`UPDATE webhook_secrets SET sealed_secret = ''`);
    const id = await enqueue();
    await deliver(id);
    expect(received).toHaveLength(0);
    expect(await rowOf(id)).toMatchObject({
      state: 'pending',
      last_error: 'the webhook secret cannot be read',
    });
    await secrets.rotate(TENANT);
  });

  it('get five attempts with growing delays and the same key, then are dropped', async () => {
    status = 500;
    const id = await enqueue();
    for (let attempt = 1; attempt <= 5; attempt++) {
      const beganAt = await databaseSeconds();
      await deliver(id);
      await deliver(id);
      const endedAt = await databaseSeconds();
      if (attempt < 5) {
        const dueAt = Number((await rowOf(id))?.due);
        expect(dueAt).toBeGreaterThanOrEqual(beganAt + 2 ** (attempt - 1));
        expect(dueAt).toBeLessThanOrEqual(endedAt + 2 ** (attempt - 1));
      }
      await makeDue(id);
    }
    await deliver(id);
    expect(received).toHaveLength(5);
    expect(new Set(received.map(({ headers }) => headers['idempotency-key']))).toEqual(
      new Set([id]),
    );
    expect(await rowOf(id)).toMatchObject({
      state: 'dropped',
      attempts: 5,
      last_error: 'answered with status 500',
    });
    expect([await counted('retried'), await counted('dropped')]).toEqual([4, 1]);
  });

  it('are retried by the same worker when due', async () => {
    status = 500;
    const id = await enqueue();
    await deliver(id);
    status = 200;
    await until(async () => (await rowOf(id))?.state === 'delivered');
    expect(await rowOf(id)).toMatchObject({ attempts: 2 });
    expect(queue.wakes).toEqual([]);
  });

  it('are released by a stopping worker without counting the attempt', async () => {
    answersFrom = Infinity;
    const ids = [await enqueue(), await enqueue()];
    const made = ids.map((id) => deliver(id));
    await until(() => received.length === 2);
    await engine.beforeApplicationShutdown();
    for (const id of ids) expect(await rowOf(id)).toMatchObject({ state: 'pending', attempts: 0 });
    expect(queue.wakes.map(({ key }) => key).toSorted()).toEqual(ids.toSorted());
    await deliver(ids[0]!);
    expect(received).toHaveLength(2);
    answersFrom = 1;
    await Promise.all(made);
  });

  it('are dropped at once when they can never be delivered', async () => {
    const id = await enqueue('private', 'nonsense');
    await deliver(id);
    expect(await rowOf(id)).toMatchObject({ state: 'dropped', attempts: 1 });
  });

  it('are taken over from a dead worker, or dropped after the last attempt', async () => {
    const id = await enqueue();
    await repository.take(id, 30_000);
    await deliver(id);
    expect(received).toHaveLength(0);
    await makeDue(id);
    await deliver(id);
    expect(await rowOf(id)).toMatchObject({ state: 'delivered', attempts: 2 });
    const last = await enqueue();
    await test.database.query('UPDATE webhook_deliveries SET attempts = 5 WHERE id = $1', [last]);
    await deliver(last);
    expect(await rowOf(last)).toMatchObject({ state: 'dropped' });
    expect(received).toHaveLength(1);
  });

  it('ignore the result of a worker that lost its lease', async () => {
    const id = await enqueue();
    const old = await repository.take(id, 0);
    await repository.take(id, 30_000);
    expect(await repository.finish(old!, 'delivered', null)).toBe(false);
    expect(await repository.retryLater(old!, 0, 'late')).toBe(false);
    expect(await rowOf(id)).toMatchObject({ state: 'pending', attempts: 2 });
  });

  it('are all sent, four at a time per receiver', async () => {
    answersFrom = 4;
    const ids = await Promise.all(Array.from({ length: 20 }, () => enqueue()));
    await Promise.all(ids.map((id) => deliver(id)));
    // Waiting deliveries do not block others.
    await until(() => received.length === ids.length && running === 0);
    expect(new Set(received.map(({ headers }) => headers['idempotency-key']))).toEqual(
      new Set(ids),
    );
    expect(mostRunning).toBe(4);
  });

  it('are found by the sweep when their wake-up was lost, once per round', async () => {
    const id = await enqueue();
    await worker.topic.sweep();
    expect(queue.wakes).toEqual([]);
    const age = `UPDATE webhook_deliveries SET woken_at = now() - interval '6 seconds'`;
    await test.database.query(age);
    await worker.topic.sweep();
    await worker.topic.sweep();
    expect(queue.wakes).toEqual([{ key: id, delayMs: undefined }]);
  });

  it('are listed for their tenant only, newest first, in complete pages', async () => {
    const made: string[] = [];
    for (let count = 0; count < 5; count++) made.push(await enqueue());
    await deliver(made[0]!);
    const listed = [];
    let behind: string[] | undefined;
    for (;;) {
      const page = await repository.newestOf(TENANT, 2, behind);
      const last = page.at(-1);
      if (!last) break;
      listed.push(...page);
      behind = [last.place, last.id];
    }
    expect(listed.map(({ id }) => id)).toEqual(made.reverse());
    expect(listed.map(({ state, attempts }) => [state, attempts])).toEqual([
      ...Array<[string, number]>(4).fill(['pending', 0]),
      ['delivered', 1],
    ]);
    expect(await repository.newestOf(randomUUID(), 2, undefined)).toEqual([]);
  });

  it('are kept for a week after they end', async () => {
    const [done, kept, pending] = [await enqueue(), await enqueue(), await enqueue()];
    await deliver(done);
    await deliver(kept);
    const age = `UPDATE webhook_deliveries SET created_at = now() - interval '9 days',
      finished_at = CASE WHEN id = $1 THEN now() - interval '8 days' ELSE finished_at END`;
    await test.database.query(age, [done]);
    await worker.tidy();
    expect([await rowOf(done), await rowOf(kept), await rowOf(pending)]).toEqual([
      undefined,
      expect.anything(),
      expect.anything(),
    ]);
  });
});
