import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../platform/config/load-config.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { InFlightLimiter } from './in-flight-limiter.js';
import { StrangerTurns } from './stranger-turns.js';

const openResponse = () => Object.assign(new EventEmitter(), { destroyed: false });

function makeTurns() {
  const inFlight = Object.assign(new InFlightLimiter(loadConfig({}, [])), { turnsAtOnce: 1 });
  const turns = new StrangerTurns(inFlight);
  const ask = (url: string, response = openResponse()) =>
    turns.turnOf({ url } as IncomingMessage, response);
  return { ask };
}

describe(StrangerTurns.name, () => {
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
});
