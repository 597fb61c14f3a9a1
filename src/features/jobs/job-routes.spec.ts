import { describe, expect, it } from '@jest/globals';
import { NO_USAGE } from '../../canonical/usage.js';
import { exactPricingOf } from '../../core/catalogue/exact-pricing-of.js';
import type { PlannedRoute } from '../../core/routing/plan.js';
import { readRoutes, storeRoutes, type StoredRoute } from './job-routes.js';

const ROUTE: PlannedRoute = {
  model: 'one/draw',
  provider: 'one',
  catalogueId: 'one/draw',
  upstreamModel: 'draw',
  trafficMode: 'shared',
  ceiling: { ...NO_USAGE, imageCount: 2 },
  maxCost: 2_000,
  limits: { firstByteMs: 1, idleMs: 2, requestMs: 3 },
  pricing: exactPricingOf({ image: '123456789.000000000000000001' }),
};

describe('the routes of a job', () => {
  /** As returned by the database. */
  const stored = (...routes: PlannedRoute[]): StoredRoute[] =>
    JSON.parse(storeRoutes(routes)) as StoredRoute[];

  it('round-trips routes with exact prices', () => {
    expect(readRoutes(stored(ROUTE, { ...ROUTE, provider: 'two', account: 'eu' }))).toEqual([
      ROUTE,
      { ...ROUTE, provider: 'two', account: 'eu' },
    ]);
  });

  it('treats prices unknown to the storing version as zero', () => {
    const [route] = stored(ROUTE);
    const { webSearch: _, ...pricing } = route!.pricing;
    expect(readRoutes([{ ...route!, pricing }])[0]!.pricing.webSearch).toBe(0n);
  });

  it('stores no other properties of a route', () => {
    const json = storeRoutes([{ ...ROUTE, secret: 'sk-vendor' } as PlannedRoute]);
    expect(json).not.toContain('sk-vendor');
  });
});
