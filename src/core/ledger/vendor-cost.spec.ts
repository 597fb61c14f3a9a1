import { describe, expect, it } from '@jest/globals';
import type { BillableRoute } from '../../canonical/billable-route.js';
import { FREE, UNITS_PER_CREDIT } from '../../canonical/exact-pricing.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { logDraft } from '../../../test/support/ledger-factories.js';
import { noteAttempts, vendorCostOf, type LoggableAttempt } from './vendor-cost.js';

const ROUTE: BillableRoute = {
  model: 'a/b',
  provider: 'p',
  catalogueId: 'a/b',
  // Half a credit a token.
  pricing: { ...FREE, prompt: UNITS_PER_CREDIT / 2n },
  trafficMode: 'shared',
  ceiling: NO_USAGE,
};
const ARRIVED = new Date('2026-11-01T00:00:00Z');

const attempt = (startedMs: number, overrides: Partial<LoggableAttempt> = {}): LoggableAttempt => ({
  route: ROUTE,
  startedAt: new Date(ARRIVED.getTime() + startedMs),
  durationMs: 5,
  outcome: 'answered',
  ...overrides,
});

/** The row of a request of 100 ms after its attempts were added. */
function logged(attempts: LoggableAttempt[], lastCost: number) {
  const tenant = { tenantId: 't', apiKeyId: 'k' };
  const log = logDraft(tenant, 'r', { createdAt: ARRIVED, latencyMs: 100, firstTokenMs: 20 });
  noteAttempts(log, attempts, lastCost);
  const { vendorCost, vendorStartedMs, attempts: list } = log;
  return { vendorCost, vendorStartedMs, list };
}

describe(vendorCostOf.name, () => {
  it('is in whole credits, rounded up once, and 0 on BYOK traffic', () => {
    const usage = { ...NO_USAGE, inputTokens: 3 };
    expect(vendorCostOf(usage, ROUTE)).toBe(2);
    expect(vendorCostOf(usage, { ...ROUTE, trafficMode: 'byok' })).toBe(0);
  });
});

describe(noteAttempts.name, () => {
  it('adds no list when one vendor answered or none was called', () => {
    expect(logged([attempt(3)], 7)).toEqual({ vendorCost: 7, vendorStartedMs: 3, list: undefined });
    expect(logged([], 0)).toEqual({ vendorCost: 0, vendorStartedMs: undefined, list: undefined });
  });

  it('lists the only call when its provider has several accounts', () => {
    const { list, vendorCost } = logged([attempt(3, { route: { ...ROUTE, account: 'eu' } })], 7);
    expect(vendorCost).toBe(7);
    expect(list).toMatchObject([{ route: 'p/a/b', account: 'eu', outcome: 'answered' }]);
  });

  it('lists earlier attempts with the usage that their vendors reported', () => {
    const usage = { ...NO_USAGE, inputTokens: 10 };
    const failed = attempt(1, { outcome: 'overloaded', status: 529, usage });
    expect(logged([failed, attempt(10)], 7)).toEqual({
      vendorCost: 12,
      vendorStartedMs: undefined,
      list: [
        {
          route: 'p/a/b',
          outcome: 'overloaded',
          status: 529,
          started_ms: 1,
          duration_ms: 5,
          vendor_cost: 5,
        },
        {
          route: 'p/a/b',
          outcome: 'answered',
          status: 200,
          started_ms: 10,
          duration_ms: 90,
          vendor_cost: 7,
        },
      ],
    });
  });

  it('lists an attempt that failed, was aborted, or started before its request', () => {
    expect(logged([attempt(-2, { outcome: 'aborted' })], 0).list).toMatchObject([
      { outcome: 'aborted', status: null, started_ms: 0 },
    ]);
  });

  it('bills the faster leg of a hedged request and lists the cost of the other', () => {
    const usage = { ...NO_USAGE, inputTokens: 10 };
    const superseded = { outcome: 'outpaced', usage, isUnbilled: true };
    const won = attempt(10, { isHedge: true, isUnbilled: false });
    expect(logged([attempt(1, superseded), won], 7)).toMatchObject({
      vendorCost: 12,
      list: [
        { outcome: 'outpaced', status: null, duration_ms: 5, vendor_cost: 5 },
        { outcome: 'answered', hedged: true, duration_ms: 90, vendor_cost: 7 },
      ],
    });
    const lost = attempt(10, { ...superseded, isHedge: true });
    expect(logged([attempt(1), lost], 7)).toMatchObject({
      vendorCost: 12,
      list: [
        { outcome: 'answered', duration_ms: 99, vendor_cost: 7 },
        { outcome: 'outpaced', hedged: true, duration_ms: 5, vendor_cost: 5 },
      ],
    });
    // The caller disconnected and pays for the first.
    const left = { outcome: 'aborted', usage, isHedge: true, isUnbilled: true };
    const { list, vendorCost } = logged([attempt(1, { outcome: 'aborted' }), attempt(9, left)], 7);
    expect(vendorCost).toBe(12);
    expect(list!.map((each) => each.vendor_cost)).toEqual([7, 5]);
  });

  it('lists 16 of many attempts including the last, with the cost of all', () => {
    const usage = { ...NO_USAGE, inputTokens: 2 };
    const many = Array.from({ length: 30 }, (_, n) =>
      attempt(n, { outcome: 'server_error', usage }),
    );
    const { list, vendorCost } = logged([...many, attempt(50)], 7);
    expect(list).toHaveLength(16);
    expect(list!.at(-1)).toMatchObject({ started_ms: 50, vendor_cost: 7 });
    expect(vendorCost).toBe(30 + 7);
  });
});
