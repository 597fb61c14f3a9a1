import { describe, expect, it } from '@jest/globals';
import type { BillableRequest } from '../../canonical/billable-request.js';
import type { BillableRoute } from '../../canonical/billable-route.js';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { FREE } from '../../canonical/exact-pricing.js';
import { NO_USAGE } from '../../canonical/usage.js';
import type { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import type { Caller } from '../access/caller.js';
import { InProcessRateLimiter } from '../access/rate-limiters.js';
import { RequestRates } from '../access/request-rates.js';
import type { AbandonedAnswers } from './abandoned-answers.js';
import type { LedgerStore } from './ledger-store.js';
import { LedgerService } from './ledger.service.js';

const ROUTE: BillableRoute = {
  model: 'a/b',
  provider: 'a',
  catalogueId: 'a/b',
  pricing: FREE,
  trafficMode: 'shared',
  ceiling: NO_USAGE,
};

/** A ledger whose store records its calls. */
function setUp(route: BillableRoute) {
  const calls: string[] = [];
  const store = {
    hold: () => Promise.resolve({ admitted: true }),
    release: () => Promise.resolve(void calls.push('release')),
    settle: () => {
      calls.push('settle');
      return Promise.resolve({ cost: 0, shortfall: 0, applied: true });
    },
    drain: () => Promise.resolve(void calls.push('drain')),
  };
  const metrics = {
    track: () => undefined,
    observeHold: () => undefined,
    observeSettle: () => undefined,
    observeRequest: () => undefined,
  };
  const request: Partial<BillableRequest> = {
    requestId: 'r',
    startedAt: new Date(),
    routes: [route],
    estimate: NO_USAGE,
    upstreamCalled: true,
    callerGone: new AbortController().signal,
    noteOutput: () => undefined,
  };
  const ledger = new LedgerService(
    store as unknown as LedgerStore,
    metrics as unknown as GatewayMetrics,
    { endGraces: () => undefined } as AbandonedAnswers,
    { settle: 'before-end' },
    new RequestRates(new InProcessRateLimiter()),
  );
  const hold = () => ledger.hold({ tenantId: 't' } as Caller, request as BillableRequest);
  return { calls, ledger, hold };
}

async function* answer(): AsyncGenerator<CanonicalEvent> {
  yield { type: 'finish', choice: 0, reason: 'stop' };
}

async function readAll(events: AsyncIterable<unknown>): Promise<void> {
  for await (const event of events) void event;
}

describe(LedgerService.name, () => {
  it('settles a hold once, and shuts down at once when none is open', async () => {
    const { calls, ledger, hold } = setUp(ROUTE);
    await readAll(ledger.settle(await hold(), answer()));
    await ledger.onModuleDestroy();
    expect(calls).toEqual(['settle', 'drain']);
  });

  it('releases the hold when its charge cannot be computed', async () => {
    const { calls, ledger, hold } = setUp({
      ...ROUTE,
      get bounds(): never {
        throw new Error('no bounds');
      },
    });
    await expect(readAll(ledger.settle(await hold(), answer()))).rejects.toThrow('no bounds');
    await ledger.onModuleDestroy();
    expect(calls).toEqual(['release', 'drain']);
  });

  it('releases the hold when its output cannot be sized', async () => {
    let reads = 0;
    const { calls, ledger, hold } = setUp({
      ...ROUTE,
      // Read first to price the hold, then to size the output.
      get output() {
        if (reads++ > 0) throw new Error('no output');
        return undefined;
      },
    });
    await expect(hold()).rejects.toThrow('no output');
    await ledger.onModuleDestroy();
    expect(calls).toEqual(['release', 'drain']);
  });
});
