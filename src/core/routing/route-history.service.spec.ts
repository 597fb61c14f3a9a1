import { describe, expect, it } from '@jest/globals';
import type { Database } from '../../platform/database/database.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { cacheHitRateOf, RouteHistory, uptimeOf } from './route-history.service.js';
import { RouteTally } from './route-tally.js';

function world() {
  const written: unknown[][] = [];
  const reads: unknown[][] = [];
  const state = { isAway: false };
  const database = {
    query: (text: string, values: unknown[]) => {
      if (state.isAway) return Promise.reject(new Error('away'));
      if (text.startsWith('SELECT')) {
        reads.push(values);
        return Promise.resolve({ rows: [{ read: reads.length }], rowCount: 1 });
      }
      written.push(values);
      return Promise.resolve({ rows: [], rowCount: 0 });
    },
  };
  const tally = new RouteTally();
  const history = new RouteHistory(database as unknown as Database, tally);
  return { history, tally, written, reads, state };
}

const route = { provider: 'one', catalogueId: 'one/a', byok: undefined };

describe(RouteHistory.name, () => {
  it('writes each count once, and retries failed writes later', async () => {
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
    // Two rows if a period ended between the two calls.
    expect([new Set(providers), new Set(models)]).toEqual([new Set(['one']), new Set(['one/a'])]);
    const sum = (values: unknown) => (values as number[]).reduce((total, each) => total + each, 0);
    expect([answered, failed, latency].map(sum)).toEqual([1, 1, 120]);
  });

  it('writes usage and duration of answers', async () => {
    const { history, tally, written } = world();
    const usage = { ...NO_USAGE, inputTokens: 2_000, cacheReadTokens: 1_500, outputTokens: 50 };
    tally.noteUsage(route, usage, 900);
    tally.noteUsage(route, { ...usage, cacheReadTokens: 0, outputTokens: 0 }, 900);
    // A BYOK account is private to its tenant.
    const byok = { credential: { id: 'x' } } as never;
    tally.noteUsage({ ...route, byok }, usage, 900);
    await history.writeNow();
    const sums = (written[0] as unknown[][])
      .slice(6)
      .map((values) => (values as number[]).reduce((total, each) => total + each, 0));
    expect(sums).toEqual([4_000, 1_500, 50, 900]);
  });

  it('reads recent sums once in five seconds, and serves stale ones during an outage', async () => {
    const { history, reads, state } = world();
    const nowMs = Date.UTC(2030, 0, 1, 12, 4);
    expect(await history.lately(nowMs)).toEqual([{ read: 1 }]);
    expect(await history.lately(nowMs + 4_999)).toEqual([{ read: 1 }]);
    expect(reads).toEqual([[new Date(Date.UTC(2030, 0, 1, 11, 35))]]);
    state.isAway = true;
    expect(await history.lately(nowMs + 5_000)).toEqual([{ read: 1 }]);
    state.isAway = false;
    expect(await history.lately(nowMs + 10_000)).toEqual([{ read: 2 }]);
  });

  it('computes uptime and cache hit rate over several sums, and null without any', () => {
    const none = { provider: 'p', model: 'm', latencyMs: 0, outputTokens: 0, outputMs: 0 };
    const sums = [
      { ...none, answered: 2, failed: 1, promptTokens: 300, cachedTokens: 0 },
      { ...none, answered: 1, failed: 0, promptTokens: 100, cachedTokens: 100 },
    ];
    expect([uptimeOf(sums), cacheHitRateOf(sums)]).toEqual([75, 0.25]);
    expect([uptimeOf([]), cacheHitRateOf([])]).toEqual([null, null]);
  });

  it('writes the remaining counts at shutdown, and tolerates a database outage', async () => {
    const { history, tally, written, state } = world();
    tally.noteFailure(route);
    await history.onApplicationShutdown();
    expect(written).toHaveLength(1);
    tally.noteFailure(route);
    state.isAway = true;
    await expect(history.onApplicationShutdown()).resolves.toBeUndefined();
  });
});
