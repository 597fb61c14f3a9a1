import { describe, expect, it } from '@jest/globals';
import type { Database } from '../../platform/database/database.js';
import { RouteHistory } from './route-history.service.js';
import { RouteTally } from './route-tally.js';
import type { RoutingService } from './routing.service.js';

function world() {
  const written: unknown[][] = [];
  const state = { isAway: false };
  const database = {
    query: (_text: string, values: unknown[]) => {
      if (state.isAway) return Promise.reject(new Error('away'));
      written.push(values);
      return Promise.resolve({ rows: [], rowCount: 0 });
    },
  };
  const tally = new RouteTally();
  const history = new RouteHistory(
    database as unknown as Database,
    { tally } as unknown as RoutingService,
  );
  return { history, tally, written, state };
}

const route = { provider: 'one', catalogueId: 'one/a', byok: undefined };

describe(RouteHistory.name, () => {
  it('writes each count once, and one that fails to be written the next time', async () => {
    const { history, tally, written, state } = world();
    await history.writeNow();
    expect(written).toEqual([]);
    tally.noteAnswer(route, 120.4);
    state.isAway = true;
    await expect(history.writeNow()).rejects.toThrow('away');
    tally.noteFailure(route);
    state.isAway = false;
    await history.writeNow();
    await history.writeNow();
    expect(written).toHaveLength(1);
    const [, providers, models, answered, failed, latency] = written[0] as unknown[][];
    // Two rows where a period ended between the two calls.
    expect([new Set(providers), new Set(models)]).toEqual([new Set(['one']), new Set(['one/a'])]);
    const sum = (values: unknown) => (values as number[]).reduce((total, each) => total + each, 0);
    expect([answered, failed, latency].map(sum)).toEqual([1, 1, 120]);
  });

  it('writes what is left as the service stops, and bears a database that is away by then', async () => {
    const { history, tally, written, state } = world();
    tally.noteFailure(route);
    await history.onApplicationShutdown();
    expect(written).toHaveLength(1);
    tally.noteFailure(route);
    state.isAway = true;
    await expect(history.onApplicationShutdown()).resolves.toBeUndefined();
  });
});
