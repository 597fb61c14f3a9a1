import { describe, expect, it, jest } from '@jest/globals';
import type { RouteCondition } from '../../core/routing/route-health.js';
import type { InFlightLimiter } from '../../core/access/in-flight-limiter.js';
import type { InstanceService } from '../../core/ledger/instance.service.js';
import type { LedgerStore } from '../../core/ledger/ledger-store.js';
import type { HedgeShare } from '../../core/routing/hedge/hedge-share.js';
import type { AccountPools } from '../../core/routing/pool/account-pools.js';
import type { OperatorPools } from '../../core/routing/pool/operator-pools.js';
import type { RoutingService } from '../../core/routing/routing.service.js';
import type { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { LiveReport, unhealthyRoutes } from './live-report.js';

const route = (
  upstreamModel: string | undefined,
  state: RouteCondition['state'],
): RouteCondition => ({ provider: 'one', upstreamModel, state });

describe(unhealthyRoutes.name, () => {
  it('lists unhealthy routes, the worst and whole providers first', () => {
    const conditions = [
      route('a', 'cooling'),
      route('b', 'healthy'),
      route('c', 'open'),
      route(undefined, 'cooling'),
    ];
    expect(unhealthyRoutes(conditions)).toEqual({
      routes: [
        { provider: 'one', model: 'c', state: 'open' },
        { provider: 'one', model: null, state: 'cooling' },
        { provider: 'one', model: 'a', state: 'cooling' },
      ],
      more_routes: 0,
    });
  });

  it('limits the report and replaces characters that PostgreSQL refuses', () => {
    const long = `${'m'.repeat(199)}😀\u0000`;
    const conditions = Array.from({ length: 120 }, () => route(long, 'open'));
    const { routes, more_routes: more } = unhealthyRoutes(conditions);
    expect([routes.length, more]).toEqual([50, 70]);
    expect(routes[0]!.model).toHaveLength(200);
    expect(routes[0]!.model!.isWellFormed()).toBe(true);
    expect(unhealthyRoutes([route('a\u0000b', 'open')]).routes[0]!.model).toBe('ab');
  });
});

describe(LiveReport.name, () => {
  it('divides account limits by the number of gateways', async () => {
    jest.useFakeTimers();
    try {
      let living: { facts: { role?: string } }[] = [];
      const pools = { share: 1 };
      const report = new LiveReport(
        {
          reportLive: () => undefined,
          living: () => (living.length > 0 ? Promise.resolve(living) : Promise.reject(new Error())),
        } as unknown as InstanceService,
        {} as InFlightLimiter,
        {} as LedgerStore,
        {} as RoutingService,
        { hasAny: true } as OperatorPools,
        pools as AccountPools,
        {} as HedgeShare,
        {} as GatewayMetrics,
      );
      report.onModuleInit();
      living = [{ facts: { role: 'gateway' } }, { facts: { role: 'gateway' } }];
      living.push({ facts: { role: 'worker' } });
      await jest.advanceTimersByTimeAsync(5_000);
      expect(pools.share).toBe(1 / 2);
      // During a database outage the last share is kept.
      living = [];
      await jest.advanceTimersByTimeAsync(5_000);
      expect(pools.share).toBe(1 / 2);
      living = [{ facts: { role: 'gateway' } }];
      await jest.advanceTimersByTimeAsync(5_000);
      expect(pools.share).toBe(1);
      report.onApplicationShutdown();
    } finally {
      jest.useRealTimers();
    }
  });
});
