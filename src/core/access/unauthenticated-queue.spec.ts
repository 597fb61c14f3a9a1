import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../platform/config/load-config.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { ClientNetworks } from './client-networks.js';
import { InFlightLimiter, type Closing } from './in-flight-limiter.js';
import { UnauthenticatedQueue } from './unauthenticated-queue.js';

const openResponse = () => Object.assign(new EventEmitter(), { destroyed: false });

function makeQueue() {
  const config = loadConfig({ GATEWAY_TRUSTED_PROXIES: '10.0.0.0/8' }, []);
  const inFlight = new InFlightLimiter(config, 1);
  const queue = new UnauthenticatedQueue(inFlight, new ClientNetworks(config));
  const requestFrom = (
    url: string,
    response: Closing,
    remoteAddress: string,
    forwarded?: string,
  ) => {
    const headers = { 'x-forwarded-for': forwarded };
    return queue.turnOf(
      { url, headers, socket: { remoteAddress } } as unknown as IncomingMessage,
      response,
    );
  };
  const ask = (url: string, response: Closing = openResponse()) =>
    requestFrom(url, response, '192.0.2.1');
  return { ask, requestFrom };
}

describe(UnauthenticatedQueue.name, () => {
  it.each(['/', '/docs', '/docs-json', '/console/assets/a.js', '/metrics', '/nothing', '*'])(
    'queues requests for %s until the previous one is answered',
    async (url) => {
      const { ask } = makeQueue();
      const first = openResponse();
      expect(ask(url, first)).toBeUndefined();
      let hasTurn = false;
      const second = ask('/docs')!.then(() => (hasTurn = true));
      await nextTurn();
      expect(hasTurn).toBe(false);
      first.emit('close');
      await second;
    },
  );

  it('queues file downloads for the first 25 ms of each', async () => {
    const { ask } = makeQueue();
    expect(ask('/v1/artifacts/a?signature=b')).toBeUndefined();
    const startedMs = performance.now();
    await ask('/v1/artifacts/c');
    expect(performance.now() - startedMs).toBeGreaterThan(20);
  });

  it('queues probes behind probes only', async () => {
    const { ask } = makeQueue();
    for (let page = 0; page < 50; page++) void ask('/docs');
    const first = openResponse();
    expect(ask('/healthz', first)).toBeUndefined();
    const second = ask('/readyz?verbose');
    expect(second).toBeInstanceOf(Promise);
    first.emit('close');
    await second;
  });

  it.each(['/v1/chat/completions', '/api/v1/responses', '/openai/deployments/a/chat/completions'])(
    'does not queue callers of %s',
    (url) => {
      const { ask } = makeQueue();
      for (let page = 0; page < 50; page++) void ask('/docs');
      for (let call = 0; call < 10; call++) expect(ask(url)).toBeUndefined();
    },
  );

  it('refuses requests when 500 are waiting and removes disconnected callers', async () => {
    const { ask } = makeQueue();
    void ask('/');
    const disconnected = openResponse();
    const waiter = ask('/', disconnected);
    const waiting = Array.from({ length: 499 }, () => ask('/'));
    await expect(ask('/')).rejects.toMatchObject({ status: 503, retryAfterSeconds: 2 });
    disconnected.emit('close');
    await expect(waiter).rejects.toBeInstanceOf(CallerGoneError);
    void waiting.push(ask('/'));
    expect(waiting).toHaveLength(500);
  });

  it('lets more probes wait, since a load balancer may share an address with a crowd', async () => {
    const { ask } = makeQueue();
    const first = openResponse();
    void ask('/healthz', first);
    const waiting = Array.from({ length: 10_000 }, () => ask('/readyz'));
    await expect(ask('/readyz')).rejects.toMatchObject({ status: 503 });
    first.emit('close');
    await waiting[0];
  });

  it.each<[string, [string, string?], [string, string?]]>([
    ['another address', ['192.0.2.1'], ['192.0.2.2']],
    [
      'another address behind a trusted proxy',
      ['10.0.0.1', '192.0.2.1'],
      ['10.0.0.1', '192.0.2.2'],
    ],
    ['the trusted proxy itself', ['10.0.0.1', '192.0.2.1'], ['10.0.0.1']],
  ])('does not queue %s behind a flood', (_, [flood, of], [neighbour, ofIt]) => {
    const { requestFrom } = makeQueue();
    for (const url of ['/docs', '/readyz']) {
      for (let page = 0; page < 600; page++) {
        requestFrom(url, openResponse(), flood, of)?.catch(() => undefined);
      }
      expect(requestFrom(url, openResponse(), neighbour, ofIt)).toBeUndefined();
    }
  });
});
