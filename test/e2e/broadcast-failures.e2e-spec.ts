import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import {
  bootWithBroadcast,
  hastenReceivers,
  OPT_IN,
  type BroadcastSetUp,
} from '../support/boot-with-broadcast.js';
import { hasRedisServer, startTestRedis } from '../support/redis-server.js';
import { createTestDatabase } from '../support/test-database.js';
import { RECEPTIONS, startTraceReceiver, type TraceReceiver } from '../support/trace-receiver.js';
import { until } from '../support/until.js';

const CHAT = '/v1/chat/completions';
const BODY = { model: 'other/b', messages: [{ role: 'user', content: 'Hello' }] };
const PATIENCE_MS = 80_000;
const LOOK_MS = 50;

async function ask({ gateway }: BroadcastSetUp): Promise<string> {
  const response = await gateway.post(CHAT, BODY, OPT_IN);
  await response.text();
  expect(response.status).toBe(200);
  return response.headers.get('x-request-id')!;
}

interface Destination {
  receiver: TraceReceiver;
  id: string;
}

interface TestQueue {
  environment: Record<string, string>;
  stop(): Promise<void>;
}

/** Both kinds if a `redis-server` is installed. */
const queues = hasRedisServer ? ['the database', 'Redis'] : ['the database'];

async function startQueue(kind: string): Promise<TestQueue> {
  if (kind === 'the database') return { environment: {}, stop: () => Promise.resolve() };
  const redis = await startTestRedis();
  return { environment: { REDIS_URL: redis.url }, stop: () => redis.stop() };
}

/** Waits until a destination has delivered or dropped this many traces. */
async function settled(setUp: BroadcastSetUp, id: string, traces: number) {
  // Each check is a request.
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += LOOK_MS) {
    const state = await setUp.destination(id);
    if (Number(state.delivered_count) + Number(state.dropped_count) >= traces) return state;
    await wait(LOOK_MS);
  }
  throw new Error(`not settled: ${JSON.stringify(await setUp.destination(id))}`);
}

const TOO_OLD = { rejectedSpans: '1', errorMessage: 'too old: C:\\spans\0' };

// One queue is enough: the rows decide what happens after a failure.
describe('a failing receiver', () => {
  let setUp: BroadcastSetUp;
  const receivers: TraceReceiver[] = [];

  beforeAll(async () => {
    setUp = await bootWithBroadcast();
  });
  afterAll(async () => {
    await setUp.close();
    for (const receiver of receivers) await receiver.close();
  });

  async function receive(reception: TraceReceiver['reception']): Promise<Destination> {
    const receiver = await startTraceReceiver();
    receiver.reception = reception;
    receivers.push(receiver);
    const id = await setUp.send({ url: receiver.url });
    return { receiver, id };
  }

  const destinations = new Map<string, Destination>();
  const of = (name: string): Destination => destinations.get(name)!;

  /** Sends one trace for all tests of a group, which are independent of each other. */
  function useReceivers(
    receptions: Record<string, TraceReceiver['reception']>,
    onceMet: (receiver: TraceReceiver, name: string) => unknown,
  ): void {
    beforeAll(async () => {
      for (const [name, reception] of Object.entries(receptions)) {
        destinations.set(name, await receive(reception));
      }
      const requestId = await ask(setUp);
      const meet = async (name: string): Promise<void> => {
        await of(name).receiver.traceOf(requestId);
        await onceMet(of(name).receiver, name);
      };
      await Promise.all(Object.keys(receptions).map(meet));
    });
    afterAll(() => setUp.clear());
  }

  describe('permanently', () => {
    useReceivers(
      {
        gone: RECEPTIONS.refuse,
        redirecting: RECEPTIONS.redirect,
        refusing: (response) => void response.writeHead(401).end(),
        partial: (response) =>
          void response.writeHead(200).end(JSON.stringify({ partialSuccess: TOO_OLD })),
        disabled: RECEPTIONS.fail,
      },
      (_receiver, name) =>
        name === 'disabled' &&
        setUp.gateway.fetch(`/v1/customer/broadcast/destinations/${of(name).id}`, {
          method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body: '{"enabled":false}',
        }),
    );

    it.each([
      ['is gone', 'gone', 'answered with status 410'],
      ['redirects', 'redirecting', 'redirects, which is not followed'],
      ['says that it will not take it later either', 'refusing', 'answered with status 401'],
    ])('gets a trace once when it %s, and the trace counts as dropped', async (_, name, reason) => {
      const { receiver, id } = of(name);
      const state = await settled(setUp, id, 1);
      expect(state).toMatchObject({
        delivered_count: 0,
        dropped_count: 1,
        last_error: reason,
        last_success_at: null,
      });
      expect(receiver.deliveries).toHaveLength(1);
    });

    it('has its partial rejections counted as dropped', async () => {
      const state = await settled(setUp, of('partial').id, 1);
      expect(state).toMatchObject({
        delivered_count: 0,
        dropped_count: 1,
        pending_count: 0,
        last_error: `rejected 1 spans: ${TOO_OLD.errorMessage}`,
      });
    });

    it('gets no pending traces once its destination is disabled', async () => {
      const state = await settled(setUp, of('disabled').id, 1);
      expect(state).toMatchObject({ dropped_count: 1, enabled: false });
    });
  });

  describe('temporarily', () => {
    let waitedFromMs = 0;
    useReceivers(
      {
        failing: RECEPTIONS.fail,
        resetting: RECEPTIONS.reset,
        patient: (response) => {
          waitedFromMs = performance.now();
          response.writeHead(503, { 'retry-after': '1' }).end();
        },
        hopeless: RECEPTIONS.fail,
      },
      (receiver, name) => {
        if (name !== 'hopeless') receiver.reception = RECEPTIONS.accept;
      },
    );

    it.each(['failing', 'resetting'])(
      'gets a retry with the same idempotency key after a 500 or a reset (%s)',
      async (name) => {
        const { receiver, id } = of(name);
        const state = await settled(setUp, id, 1);
        expect(state).toMatchObject({ delivered_count: 1, dropped_count: 0, pending_count: 0 });
        expect(state.last_error).toEqual(expect.any(String));
        const keys = receiver.deliveries.map(({ headers }) => headers['idempotency-key']);
        expect(keys.length).toBeGreaterThanOrEqual(2);
        expect(new Set(keys).size).toBe(1);
      },
    );

    it('gets no retry before its Retry-After', async () => {
      const { receiver, id } = of('patient');
      await until(() => receiver.deliveries.length > 1);
      expect(performance.now() - waitedFromMs).toBeGreaterThan(900);
      expect(await settled(setUp, id, 1)).toMatchObject({ delivered_count: 1 });
    });

    it('gets five attempts before the trace is dropped and counted', async () => {
      const { receiver, id } = of('hopeless');
      const state = await settled(setUp, id, 1);
      expect(state).toMatchObject({ delivered_count: 0, dropped_count: 1, pending_count: 0 });
      expect(receiver.deliveries).toHaveLength(5);
      const metrics = await (await fetch(`${setUp.gateway.url}/metrics`)).text();
      expect(metrics).toMatch(/gateway_broadcast_dropped_total\{reason="exhausted"\} [1-9]/);
    });
  });

  it('times out after ten seconds when it hangs or drips, without delaying other traces', async () => {
    const hanging = await receive(RECEPTIONS.hang);
    const dripping = await receive(RECEPTIONS.drip);
    const good = await receive(RECEPTIONS.accept);
    const haste = hastenReceivers();
    const requestId = await ask(setUp);
    for (const { receiver } of [hanging, dripping, good]) await receiver.traceOf(requestId);
    // Later traces do not wait for the hanging one.
    const later = await ask(setUp);
    for (const { receiver } of [hanging, dripping, good]) await receiver.traceOf(later);
    for (const { receiver } of [hanging, dripping]) receiver.reception = RECEPTIONS.accept;
    for (const { id } of [hanging, dripping, good]) {
      expect(await settled(setUp, id, 2)).toMatchObject({ delivered_count: 2, dropped_count: 0 });
    }
    expect(haste).toHaveBeenCalledWith(expect.objectContaining({ timeoutMs: 10_000 }));
    haste.mockRestore();
    for (const { receiver } of [hanging, dripping])
      expect(receiver.concurrency.most).toBeLessThan(5);
  });
});

describe.each(queues)('a restart, with the queue in %s', (kind) => {
  it('loses no trace, buffered or undelivered', async () => {
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

describe('an outage of receivers with a restart', () => {
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
    const load = async (setUp: BroadcastSetUp, requests: number): Promise<void> => {
      for (let count = 0; count < requests; count++) {
        sent.push(await ask(setUp));
        await wait(20);
      }
    };
    let back: TraceReceiver | undefined;
    try {
      const first = await bootWithBroadcast(environment, { database });
      const ids = [await first.send({ url: failing.url }), await first.send({ url: away.url })];
      await load(first, 20);
      for (const id of ids) await settled(first, id, 20);
      failing.reception = RECEPTIONS.fail;
      await away.close();
      await load(first, 40);
      await first.close();
      const second = await bootWithBroadcast(environment, { database });
      // Until the first traces have used all attempts, so that some are dropped.
      for (const id of ids) {
        while ((await second.destination(id)).dropped_count === 0) await load(second, 5);
      }
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
        expect(Number(delivered)).toBeGreaterThanOrEqual(40);
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

/** Requests whose traces a receiver accepted. */
function takenBy({ deliveries }: TraceReceiver): string[] {
  return deliveries
    .filter(({ isAccepted }) => isAccepted)
    .flatMap(({ spans }) => spans)
    .map(({ attributes }) => attributes['gateway.request.id'])
    .filter((id) => typeof id === 'string');
}
