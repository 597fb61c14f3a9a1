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

function makeTurns() {
  const config = loadConfig({ GATEWAY_TRUSTED_PROXIES: '10.0.0.0/8' }, []);
  const inFlight = Object.assign(new InFlightLimiter(config), { turnsAtOnce: 1 });
  const turns = new UnauthenticatedQueue(inFlight, new ClientNetworks(config));
  const askFrom = (url: string, response: Closing, remoteAddress: string, forwarded?: string) => {
    const headers = { 'x-forwarded-for': forwarded };
    return turns.turnOf(
      { url, headers, socket: { remoteAddress } } as unknown as IncomingMessage,
      response,
    );
  };
  const ask = (url: string, response: Closing = openResponse()) =>
    askFrom(url, response, '192.0.2.1');
  return { ask, askFrom };
}

describe(UnauthenticatedQueue.name, () => {
  it.each(['/', '/docs', '/docs-json', '/console/assets/a.js', '/metrics', '/nothing', '*'])(
    'has those who ask for %s take turns, each until the one before has its answer',
    async (url) => {
      const { ask } = makeTurns();
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

  it('has those who fetch a file wait until its first bytes may have left', async () => {
    const { ask } = makeTurns();
    expect(ask('/v1/artifacts/a?signature=b')).toBeUndefined();
    const startedMs = performance.now();
    await ask('/v1/artifacts/c');
    expect(performance.now() - startedMs).toBeGreaterThan(20);
  });

  it('keeps probes waiting for probes alone', async () => {
    const { ask } = makeTurns();
    for (let page = 0; page < 50; page++) void ask('/docs');
    const first = openResponse();
    expect(ask('/healthz', first)).toBeUndefined();
    const second = ask('/readyz?verbose');
    expect(second).toBeInstanceOf(Promise);
    first.emit('close');
    await second;
  });

  it.each(['/v1/chat/completions', '/api/v1/responses', '/openai/deployments/a/chat/completions'])(
    'keeps no caller of %s waiting',
    (url) => {
      const { ask } = makeTurns();
      for (let page = 0; page < 50; page++) void ask('/docs');
      for (let call = 0; call < 10; call++) expect(ask(url)).toBeUndefined();
    },
  );

  it('refuses those beyond five hundred, and forgets who leaves', async () => {
    const { ask } = makeTurns();
    void ask('/');
    const leaver = openResponse();
    const left = ask('/', leaver);
    const waiting = Array.from({ length: 499 }, () => ask('/'));
    await expect(ask('/')).rejects.toMatchObject({ status: 503, retryAfterSeconds: 2 });
    leaver.emit('close');
    await expect(left).rejects.toBeInstanceOf(CallerGoneError);
    void waiting.push(ask('/'));
    expect(waiting).toHaveLength(500);
  });

  it('lets more probes wait, since a balancer may have the address of a crowd', async () => {
    const { ask } = makeTurns();
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
  ])('keeps %s not waiting for the requests of one', (_, [flood, of], [neighbour, ofIt]) => {
    const { askFrom } = makeTurns();
    for (const url of ['/docs', '/readyz']) {
      for (let page = 0; page < 600; page++) {
        askFrom(url, openResponse(), flood, of)?.catch(() => undefined);
      }
      expect(askFrom(url, openResponse(), neighbour, ofIt)).toBeUndefined();
    }
  });
});
