import { describe, expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { loadConfig } from '../../platform/config/load-config.js';
import type { Caller } from './caller.js';
import { InFlightLimiter } from './in-flight-limiter.js';

const limiter = (turnsAtOnce = 2): InFlightLimiter =>
  new InFlightLimiter(
    loadConfig({ GATEWAY_MAX_IN_FLIGHT_PER_KEY: '2', GATEWAY_MAX_IN_FLIGHT_PER_TENANT: '3' }, []),
    turnsAtOnce,
  );
const caller = (apiKeyId: string, tenantId = 'tenant'): Caller => ({
  tenantId,
  apiKeyId,
  keyType: 'routing',
  keyName: 'a key',
  rateLimitPerMinute: 10,
});
const responseOf = (): ServerResponse => new EventEmitter() as unknown as ServerResponse;
const refusal = (param: string) =>
  expect.objectContaining({
    status: 429,
    type: 'rate_limit_error',
    param,
    retryAfterSeconds: 2,
    limit: param,
  });

describe(InFlightLimiter.name, () => {
  it('limits open requests per key until a response closes', () => {
    const inFlight = limiter();
    const first = responseOf();
    inFlight.admit(caller('a'), first);
    inFlight.admit(caller('a'), responseOf());
    expect(() => inFlight.admit(caller('a'), responseOf())).toThrow(
      refusal('max_in_flight_per_key'),
    );
    first.emit('close');
    first.emit('close');
    inFlight.admit(caller('a'), responseOf());
    expect(() => inFlight.admit(caller('a'), responseOf())).toThrow();
  });

  it('limits open requests of a tenant across its keys, independently of other tenants', () => {
    const inFlight = limiter();
    for (const key of ['a', 'a', 'b']) inFlight.admit(caller(key), responseOf());
    expect(() => inFlight.admit(caller('b'), responseOf())).toThrow(
      refusal('max_in_flight_per_tenant'),
    );
    expect(() => inFlight.admit(caller('c', 'other'), responseOf())).not.toThrow();
  });

  it('does not count requests against the key that the tenant limit refused', () => {
    const inFlight = limiter();
    const first = responseOf();
    inFlight.admit(caller('a'), first);
    for (const key of ['b', 'b']) inFlight.admit(caller(key), responseOf());
    for (let index = 0; index < 5; index++) {
      expect(() => inFlight.admit(caller('c'), responseOf())).toThrow();
    }
    first.emit('close');
    expect(() => inFlight.admit(caller('c'), responseOf())).not.toThrow();
  });

  it('does not count a closed response, whose close event would never come', () => {
    const inFlight = limiter();
    for (let index = 0; index < 5; index++) {
      inFlight.admit(caller('a'), { destroyed: true } as ServerResponse);
    }
    expect(() => inFlight.admit(caller('a'), responseOf())).not.toThrow();
  });

  it('limits reports of a tenant separately', () => {
    const inFlight = limiter();
    const first = responseOf();
    inFlight.admitReport(caller('a'), first, 1);
    expect(() => inFlight.admitReport(caller('b'), responseOf(), 1)).toThrow(
      refusal('max_reports_per_tenant'),
    );
    inFlight.admit(caller('a'), responseOf());
    first.emit('close');
    inFlight.admitReport(caller('b'), responseOf(), 1);
  });

  describe('waitForTurn', () => {
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    /** Sends `count` requests and records which may proceed. */
    const begin = (inFlight: InFlightLimiter, count: number, tenantId = 'tenant') => {
      const atWork: number[] = [];
      const responses = Array.from({ length: count }, (_, index) => {
        const response = responseOf();
        const turn = inFlight.waitForTurn(caller('a', tenantId), response);
        if (turn) turn.then(() => atWork.push(index)).catch(() => undefined);
        else atWork.push(index);
        return response;
      });
      return { atWork, responses };
    };

    it('admits two requests of a tenant at once and the others in order', async () => {
      const inFlight = limiter();
      const { atWork, responses } = begin(inFlight, 5);
      expect(atWork).toEqual([0, 1]);
      expect(begin(inFlight, 1, 'other').atWork).toEqual([0]);
      responses[1]!.emit('close');
      await settle();
      expect(atWork).toEqual([0, 1, 2]);
      for (const index of [0, 2]) responses[index]!.emit('close');
      await settle();
      expect(atWork).toEqual([0, 1, 2, 3, 4]);
    });

    it('defers waiting requests to the next turn of the event loop', async () => {
      const inFlight = limiter();
      const started: number[] = [];
      for (let index = 0; index < 6; index++) {
        const response = responseOf();
        const turn = inFlight.waitForTurn(caller('a'), response);
        const answer = (): void => {
          started.push(index);
          response.emit('close');
        };
        if (turn) void turn.then(answer);
        else answer();
      }
      for (const expected of [
        [0, 1],
        [0, 1, 2, 3],
        [0, 1, 2, 3, 4, 5],
      ]) {
        expect(started).toEqual(expected);
        await settle();
      }
    });

    it('admits one request at once when configured', async () => {
      const { atWork, responses } = begin(limiter(1), 3);
      expect(atWork).toEqual([0]);
      responses[0]!.emit('close');
      await settle();
      expect(atWork).toEqual([0, 1]);
    });

    it('frees a place after 250 ms, once, even if the request is still running', async () => {
      jest.useFakeTimers({ doNotFake: ['setImmediate'] });
      try {
        const inFlight = limiter();
        const { atWork, responses } = begin(inFlight, 6);
        jest.advanceTimersByTime(249);
        await settle();
        expect(atWork).toEqual([0, 1]);
        jest.advanceTimersByTime(1);
        await settle();
        expect(atWork).toEqual([0, 1, 2, 3]);
        for (const index of [0, 1]) responses[index]!.emit('close');
        await settle();
        expect(atWork).toEqual([0, 1, 2, 3]);
      } finally {
        jest.useRealTimers();
      }
    });

    it('skips a caller that disconnected while waiting', async () => {
      const inFlight = limiter();
      const { atWork, responses } = begin(inFlight, 4);
      responses[2]!.emit('close');
      responses[0]!.emit('close');
      await settle();
      expect(atWork).toEqual([0, 1, 3]);
      for (const response of responses) response.emit('close');
      await settle();
      expect(begin(inFlight, 3).atWork).toEqual([0, 1]);
    });

    it('refuses requests when 500 are waiting', async () => {
      const inFlight = limiter();
      const { responses } = begin(inFlight, 502);
      await expect(inFlight.waitForTurn(caller('a'), responseOf())).rejects.toEqual(
        refusal('max_waiting_per_tenant'),
      );
      expect(begin(inFlight, 1, 'other').atWork).toEqual([0]);
      // Otherwise their timers would keep the process alive for a minute.
      for (const response of responses) response.emit('close');
    });
  });
});
