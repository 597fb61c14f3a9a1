import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { bootWithBroadcast, OPT_IN, type BroadcastSetUp } from '../support/boot-with-broadcast.js';
import { hasRedisServer, startTestRedis } from '../support/redis-server.js';
import { createTestDatabase } from '../support/test-database.js';
import { RECEPTIONS, startTraceReceiver, type TraceReceiver } from '../support/trace-receiver.js';

const CHAT = '/v1/chat/completions';
const BODY = { model: 'other/b', messages: [{ role: 'user', content: 'Hello' }] };
const PATIENCE_MS = 80_000;

async function ask({ gateway }: BroadcastSetUp): Promise<string> {
  const response = await gateway.post(CHAT, BODY, OPT_IN);
  await response.text();
  expect(response.status).toBe(200);
  return response.headers.get('x-request-id')!;
}

interface TestQueue {
  environment: Record<string, string>;
  stop(): Promise<void>;
}

/** Both kinds where there is a `redis-server` to test with. */
const queues = hasRedisServer ? ['the database', 'Redis'] : ['the database'];

async function startQueue(kind: string): Promise<TestQueue> {
  if (kind === 'the database') return { environment: {}, stop: () => Promise.resolve() };
  const redis = await startTestRedis();
  return { environment: { REDIS_URL: redis.url }, stop: () => redis.stop() };
}

/** Waits until a destination has settled so many traces, one way or the other. */
async function settled(setUp: BroadcastSetUp, id: string, traces: number) {
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += 50) {
    const state = await setUp.destination(id);
    if (Number(state.delivered_count) + Number(state.dropped_count) >= traces) return state;
    await wait(50);
  }
  throw new Error(`not settled: ${JSON.stringify(await setUp.destination(id))}`);
}

// On one queue only: what a failure leads to is decided in the rows, whoever wakes the workers.
describe('a receiver that fails', () => {
  let queue: TestQueue;
  let setUp: BroadcastSetUp;
  const receivers: TraceReceiver[] = [];

  beforeAll(async () => {
    queue = await startQueue('the database');
    setUp = await bootWithBroadcast(queue.environment);
  });
  afterAll(async () => {
    await setUp.close();
    await queue.stop();
    for (const receiver of receivers) await receiver.close();
  });

  async function receive(reception: TraceReceiver['reception']) {
    const receiver = await startTraceReceiver();
    receiver.reception = reception;
    receivers.push(receiver);
    const id = await setUp.send({ url: receiver.url });
    return { receiver, id };
  }
  const remove = (id: string) =>
    setUp.gateway.fetch(`/v1/customer/broadcast/destinations/${id}`, { method: 'DELETE' });

  it('gets a trace again, under the same key, after it answered 500 or reset the connection', async () => {
    const failing = await receive(RECEPTIONS.fail);
    const resetting = await receive(RECEPTIONS.reset);
    const requestId = await ask(setUp);
    for (const { receiver } of [failing, resetting]) {
      await receiver.traceOf(requestId);
      receiver.reception = RECEPTIONS.accept;
    }
    for (const { receiver, id } of [failing, resetting]) {
      const state = await settled(setUp, id, 1);
      expect(state).toMatchObject({ delivered_count: 1, dropped_count: 0, pending_count: 0 });
      expect(state.last_error).toEqual(expect.any(String));
      const keys = receiver.deliveries.map(({ headers }) => headers['idempotency-key']);
      expect(keys.length).toBeGreaterThanOrEqual(2);
      expect(new Set(keys).size).toBe(1);
      await remove(id);
    }
  });

  it.each([
    ['is gone', RECEPTIONS.refuse, 'answered with status 410'],
    ['redirects', RECEPTIONS.redirect, 'redirects, which is not followed'],
  ])('gets a trace once when it %s, which counts as dropped', async (_, reception, reason) => {
    const { receiver, id } = await receive(reception);
    await ask(setUp);
    const state = await settled(setUp, id, 1);
    expect(state).toMatchObject({
      delivered_count: 0,
      dropped_count: 1,
      last_error: reason,
      last_success_at: null,
    });
    expect(receiver.deliveries).toHaveLength(1);
    await remove(id);
  });

  it('gets a trace once when it says that it will not take it later either', async () => {
    const { receiver, id } = await receive((response) => void response.writeHead(401).end());
    await ask(setUp);
    expect(await settled(setUp, id, 1)).toMatchObject({
      dropped_count: 1,
      last_error: 'answered with status 401',
    });
    expect(receiver.deliveries).toHaveLength(1);
    await remove(id);
  });

  it('is believed about what it did not take of a delivery that it took', async () => {
    const partialSuccess = { rejectedSpans: '1', errorMessage: 'too old: C:\\spans\0' };
    const { id } = await receive(
      (response) => void response.writeHead(200).end(JSON.stringify({ partialSuccess })),
    );
    await ask(setUp);
    const state = await settled(setUp, id, 1);
    expect(state).toMatchObject({
      delivered_count: 0,
      dropped_count: 1,
      pending_count: 0,
      last_error: 'rejected 1 spans: too old: C:\\spans\0',
    });
    await remove(id);
  });

  it('is left alone for as long as it asks', async () => {
    let startedMs = 0;
    const { receiver, id } = await receive((response) => {
      startedMs = performance.now();
      response.writeHead(503, { 'retry-after': '3' }).end();
    });
    const requestId = await ask(setUp);
    await receiver.traceOf(requestId);
    receiver.reception = RECEPTIONS.accept;
    expect(await settled(setUp, id, 1)).toMatchObject({ delivered_count: 1 });
    expect(performance.now() - startedMs).toBeGreaterThan(2_500);
    await remove(id);
  });

  it('gets a trace five times, and then it is dropped and counted', async () => {
    const { receiver, id } = await receive(RECEPTIONS.fail);
    await ask(setUp);
    const state = await settled(setUp, id, 1);
    expect(state).toMatchObject({ delivered_count: 0, dropped_count: 1, pending_count: 0 });
    expect(receiver.deliveries).toHaveLength(5);
    const metrics = await (await fetch(`${setUp.gateway.url}/metrics`)).text();
    expect(metrics).toMatch(/gateway_broadcast_dropped_total\{reason="exhausted"\} [1-9]/);
    await remove(id);
  });

  it('is given up after ten seconds when it hangs or drips, and holds nobody else up', async () => {
    const hanging = await receive(RECEPTIONS.hang);
    const dripping = await receive(RECEPTIONS.drip);
    const good = await receive(RECEPTIONS.accept);
    const requestId = await ask(setUp);
    for (const { receiver } of [hanging, dripping, good]) await receiver.traceOf(requestId);
    // What comes later does not wait for what hangs.
    const later = await ask(setUp);
    for (const { receiver } of [hanging, dripping, good]) await receiver.traceOf(later);
    for (const { receiver } of [hanging, dripping]) receiver.reception = RECEPTIONS.accept;
    for (const { id } of [hanging, dripping, good]) {
      expect(await settled(setUp, id, 2)).toMatchObject({ delivered_count: 2, dropped_count: 0 });
      await remove(id);
    }
    for (const { receiver } of [hanging, dripping])
      expect(receiver.concurrency.most).toBeLessThan(5);
  });

  it('gets no more of what waited for a destination that is disabled', async () => {
    const { receiver, id } = await receive(RECEPTIONS.fail);
    const requestId = await ask(setUp);
    await receiver.traceOf(requestId);
    await setUp.gateway.fetch(`/v1/customer/broadcast/destinations/${id}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{"enabled":false}',
    });
    expect(await settled(setUp, id, 1)).toMatchObject({ dropped_count: 1, enabled: false });
    await remove(id);
  });
});

describe.each(queues)('a restart, with the queue in %s', (kind) => {
  it('loses no trace: neither one in memory nor one whose receiver was away', async () => {
    const database = await createTestDatabase();
    const queue = await startQueue(kind);
    const environment = {
      ...queue.environment,
      GATEWAY_SECRET: randomBytes(32).toString('hex'),
      GATEWAY_BOOTSTRAP_API_KEY: `sk-${randomBytes(20).toString('hex')}`,
    };
    const receiver = await startTraceReceiver();
    receiver.reception = RECEPTIONS.hang;
    try {
      const first = await bootWithBroadcast(environment, { database });
      const id = await first.send({ url: receiver.url });
      const hung = await ask(first);
      await receiver.traceOf(hung);
      const buffered = await ask(first);
      const startedMs = performance.now();
      await first.close();
      expect(performance.now() - startedMs).toBeLessThan(9_000);

      receiver.reception = RECEPTIONS.accept;
      receiver.deliveries.length = 0;
      const second = await bootWithBroadcast(environment, { database });
      for (const requestId of [hung, buffered]) await receiver.traceOf(requestId);
      expect(await settled(second, id, 2)).toMatchObject({ delivered_count: 2, dropped_count: 0 });
      await second.close();
    } finally {
      await receiver.close();
      await queue.stop();
      await database.drop();
    }
  });
});

describe('an outage of receivers, with a restart in the middle', () => {
  it('loses no trace silently: each arrives or is counted as dropped', async () => {
    const database = await createTestDatabase();
    const environment = {
      GATEWAY_SECRET: randomBytes(32).toString('hex'),
      GATEWAY_BOOTSTRAP_API_KEY: `sk-${randomBytes(20).toString('hex')}`,
      GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE: '100000',
    };
    const failing = await startTraceReceiver();
    const away = await startTraceReceiver();
    const port = Number(new URL(away.url).port);
    const sent: string[] = [];
    const load = async (setUp: BroadcastSetUp, requests: number) => {
      for (let count = 0; count < requests; count++) {
        sent.push(await ask(setUp));
        await wait(50);
      }
    };
    let back: TraceReceiver | undefined;
    try {
      const first = await bootWithBroadcast(environment, { database });
      const ids = [await first.send({ url: failing.url }), await first.send({ url: away.url })];
      await load(first, 40);
      failing.reception = RECEPTIONS.fail;
      await away.close();
      await load(first, 80);
      await first.close();
      const second = await bootWithBroadcast(environment, { database });
      // About as long as all attempts for what was sent first take, so that some of it may be dropped.
      await load(second, 240);
      failing.reception = RECEPTIONS.accept;
      back = await startTraceReceiver(port);
      await load(second, 20);
      const states = [];
      for (const id of ids) states.push(await settled(second, id, sent.length));
      await second.close();
      const received = [new Set(takenBy(failing)), new Set([...takenBy(away), ...takenBy(back)])];
      for (const [index, state] of states.entries()) {
        const { delivered_count: delivered, dropped_count: dropped } = state;
        expect(Number(delivered) + Number(dropped)).toBe(sent.length);
        expect(Number(delivered)).toBeGreaterThan(60);
        expect(sent.filter((requestId) => received[index]!.has(requestId))).toHaveLength(
          Number(delivered),
        );
        expect(state.pending_count).toBe(0);
      }
    } finally {
      await failing.close();
      await back?.close();
      await database.drop();
    }
  }, 240_000);
});

/** Requests whose traces a receiver took with a good answer. */
function takenBy({ deliveries }: TraceReceiver): string[] {
  return deliveries
    .filter(({ isAccepted }) => isAccepted)
    .flatMap(({ spans }) => spans)
    .map(({ attributes }) => attributes['gateway.request.id'])
    .filter((id) => typeof id === 'string');
}
