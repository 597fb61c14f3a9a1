import { describe, expect, it } from '@jest/globals';
import { UpstreamError, type UpstreamFailure } from '../../vendors/upstream-error.js';
import { RouteHealth, type HealthKey } from './route-health.js';
import {
  COOLDOWN_MS,
  key,
  sibling,
  error,
  failTimes,
} from '../../../test/support/failing-routes.js';

describe(RouteHealth.name, () => {
  describe('for BYOK accounts', () => {
    const byok = (id: string, hasTenantAddress = false) => ({
      ...key,
      byok: { credential: { id }, hasTenantAddress },
    });
    const failOwn = (health: RouteHealth, route: HealthKey, failure: UpstreamFailure): void => {
      for (let count = 0; count < 5; count++) health.recordFailure(route, error(failure), 0, 0);
    };

    it('counts failures against the account only', () => {
      const health = new RouteHealth(COOLDOWN_MS);
      failOwn(health, byok('a'), 'operator');
      expect(health.isCooling(byok('a'), 1)).toBe(true);
      for (const other of [key, sibling, byok('b')]) expect(health.isCooling(other, 1)).toBe(false);
      expect(health.countCooling(1)).toEqual({ shared: 0, byok: 1 });
      expect(health.countCooling(COOLDOWN_MS)).toEqual({ shared: 0, byok: 0 });
    });

    const refusal = (status: number): UpstreamError =>
      new UpstreamError({ failure: 'operator', status, message: '' });
    const other = (route: HealthKey): HealthKey => ({ ...route, upstreamModel: 'gpt-5' });

    it.each([
      ['at once in a pool', 1, {}],
      ['after five in a row without one', 5, undefined],
    ])('pauses a rejected account for all models, %s', (_, times, pooled) => {
      for (const hasTenantAddress of [false, true]) {
        for (const status of [401, 402, 429]) {
          const health = new RouteHealth(COOLDOWN_MS);
          const own = { ...byok('a', hasTenantAddress), pooled };
          const models = [own, other(own)];
          for (let count = 0; count < times; count++) {
            expect(models.map((route) => health.isCooling(route, 1))).toEqual([false, false]);
            // Any model counts.
            health.recordFailure(models[count % 2]!, refusal(status), 0, 0);
          }
          expect(models.map((route) => health.isCooling(route, 1))).toEqual([true, true]);
          expect(health.isOnTrial(other(own), 1)).toBe(true);
          for (const apart of [key, other(key), { ...byok('b', hasTenantAddress), pooled }]) {
            expect(health.isCooling(apart, 1)).toBe(false);
          }
          expect(health.sharedRoutes(1)).toEqual([]);
          // After the pause one request probes, and its answer ends the pause for all models.
          expect(health.isCooling(other(own), COOLDOWN_MS)).toBe(false);
          health.recordAttempt(other(own), COOLDOWN_MS);
          expect(health.isCooling(own, COOLDOWN_MS)).toBe(true);
          health.recordAnswer(other(own), 5, COOLDOWN_MS + 1);
          expect(health.isCooling(own, COOLDOWN_MS + 2)).toBe(false);
          expect(health.isOnTrial(own, COOLDOWN_MS + 2)).toBe(false);
        }
      }
    });

    it.each([403, 404])('pauses only the model that it rejects (%d)', (status) => {
      const health = new RouteHealth(COOLDOWN_MS);
      const own = { ...byok('a'), pooled: {} };
      health.recordFailure(own, refusal(status), 0, 0);
      expect(health.isCooling(own, 1)).toBe(true);
      expect(health.isCooling(other(own), 1)).toBe(false);
    });

    it('reports the account as a whole to other instances', () => {
      const [one, two] = [new RouteHealth(COOLDOWN_MS), new RouteHealth(COOLDOWN_MS)];
      one.recordFailure({ ...byok('a'), pooled: {} }, refusal(401), 0, 0);
      for (const news of one.memories.allNews(1)) two.memories.learn(news, 1);
      expect(two.isCooling(other(byok('a')), 2)).toBe(true);
      expect(two.isCooling(key, 2)).toBe(false);
    });

    it('keeps an account in use while shared capacity fails', () => {
      const health = new RouteHealth(COOLDOWN_MS);
      failTimes(health, 5, 'operator');
      expect(health.isCooling(key, 1)).toBe(true);
      expect(health.isCooling(byok('a'), 1)).toBe(false);
      expect(health.countCooling(1)).toEqual({ shared: 1, byok: 0 });
    });

    it('counts connection failures to a shared address against all accounts', () => {
      const health = new RouteHealth(COOLDOWN_MS);
      failOwn(health, byok('a'), 'connect');
      for (const other of [key, byok('b')]) expect(health.isCooling(other, 1)).toBe(true);
    });

    it('counts connection failures to the account’s own address against that account', () => {
      const health = new RouteHealth(COOLDOWN_MS);
      failOwn(health, byok('a', true), 'connect');
      expect(health.isCooling(byok('a', true), 1)).toBe(true);
      for (const other of [key, byok('b', true)]) expect(health.isCooling(other, 1)).toBe(false);
      expect(health.countCooling(1)).toEqual({ shared: 0, byok: 1 });
    });
  });

  it('tracks each operator account of a provider separately', () => {
    const health = new RouteHealth(COOLDOWN_MS);
    const account = { ...key, account: 'eu' };
    for (let count = 0; count < 5; count++) health.recordFailure(account, error('server'), 0, 0);
    expect(health.isCooling(account, 1)).toBe(true);
    expect(health.isCooling({ ...key, account: 'us' }, 1)).toBe(false);
    expect(health.isCooling(key, 1)).toBe(false);
    for (let count = 0; count < 5; count++) health.recordFailure(account, error('connect'), 0, 0);
    expect(health.isCooling({ ...sibling, account: 'eu' }, 1)).toBe(true);
    expect(health.isCooling(sibling, 1)).toBe(false);
    expect(health.sharedRoutes(1)).toEqual([
      { provider: 'openai', account: 'eu', upstreamModel: 'gpt', state: 'open' },
      { provider: 'openai', account: 'eu', upstreamModel: undefined, state: 'open' },
    ]);
    expect(health.failingRoutes(1)).toHaveLength(2);
    expect(health.countCooling(1)).toEqual({ shared: 2, byok: 0 });
  });
});
