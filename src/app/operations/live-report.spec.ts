import { describe, expect, it } from '@jest/globals';
import type { RouteCondition } from '../../core/routing/route-health.js';
import { routesLeftAlone } from './live-report.js';

const route = (
  upstreamModel: string | undefined,
  state: RouteCondition['state'],
): RouteCondition => ({ provider: 'one', upstreamModel, state });

describe(routesLeftAlone.name, () => {
  it('names what is not healthy, the worst and whole providers first', () => {
    const conditions = [
      route('a', 'cooling'),
      route('b', 'healthy'),
      route('c', 'open'),
      route(undefined, 'cooling'),
    ];
    expect(routesLeftAlone(conditions)).toEqual({
      routes: [
        { provider: 'one', model: 'c', state: 'open' },
        { provider: 'one', model: null, state: 'cooling' },
        { provider: 'one', model: 'a', state: 'cooling' },
      ],
      more_routes: 0,
    });
  });

  it('stays small, and within what PostgreSQL takes, whatever names callers make up', () => {
    const long = `${'m'.repeat(199)}😀\u0000`;
    const conditions = Array.from({ length: 120 }, () => route(long, 'open'));
    const { routes, more_routes: more } = routesLeftAlone(conditions);
    expect([routes.length, more]).toEqual([50, 70]);
    expect(routes[0]!.model).toHaveLength(200);
    expect(routes[0]!.model!.isWellFormed()).toBe(true);
    expect(routesLeftAlone([route('a\u0000b', 'open')]).routes[0]!.model).toBe('ab');
  });
});
