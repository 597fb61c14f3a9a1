import { describe, expect, it } from '@jest/globals';
import { NO_USAGE } from '../../canonical/usage.js';
import { exactPricingOf } from '../../core/catalogue/exact-pricing-of.js';
import type { PlannedRoute } from '../../core/routing/plan.js';
import { readRoutes, storeRoutes } from './job-routes.js';

const ROUTE: PlannedRoute = {
  model: 'one/draw',
  provider: 'one',
  catalogueId: 'one/draw',
  upstreamModel: 'draw',
  trafficMode: 'shared',
  ceiling: { ...NO_USAGE, imageCount: 2 },
  limits: { firstByteMs: 1, idleMs: 2, requestMs: 3 },
  pricing: exactPricingOf({ image: '123456789.000000000000000001' }),
};

describe('the routes of a job', () => {
  it('come back as they were stored, prices to their last digit', () => {
    expect(readRoutes(storeRoutes([ROUTE, { ...ROUTE, provider: 'two' }]))).toEqual([
      ROUTE,
      { ...ROUTE, provider: 'two' },
    ]);
  });

  it('are stored without anything else that a route may carry', () => {
    const stored = storeRoutes([{ ...ROUTE, secret: 'sk-vendor' } as PlannedRoute]);
    expect(stored).not.toContain('sk-vendor');
  });
});
