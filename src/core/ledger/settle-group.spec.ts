import { describe, expect, it } from '@jest/globals';
import { NO_USAGE } from '../../canonical/usage.js';
import { AccountStates } from './account-states.js';
import { SettleEntry } from './ledger-entry.js';
import { settleGroup } from './settle-group.js';

function settlement(requestId: string, modelCharge: number): SettleEntry {
  const log = {
    requestId,
    tenantId: 'tenant',
    apiKeyId: 'key',
    endpoint: 'chat',
    model: 'm',
    provider: 'p',
    outcome: 'completed' as const,
    errorType: null,
    finishReason: null,
    trafficMode: 'shared' as const,
    usage: NO_USAGE,
    usageSource: 'upstream' as const,
    billingNote: null,
    streamed: false,
    latencyMs: 0,
    generationTimeMs: 0,
    createdAt: new Date(),
  };
  return new SettleEntry(log, { modelCharge, byokPlatformFee: 0, managedToolFee: 0 }, true);
}

function account(balance: number, held: number): AccountStates {
  const accounts = new AccountStates();
  accounts.add('tenant', balance, held);
  return accounts;
}

describe(settleGroup.name, () => {
  it('settles charges within their holds first, so that others can use what they leave', () => {
    const overrun = settlement('overrun', 70);
    const modest = settlement('modest', 10);
    const accounts = account(100, 0);
    const endedHolds = new Map([
      ['overrun', 20],
      ['modest', 80],
    ]);
    const rows = settleGroup(accounts, [overrun, modest], endedHolds, new Map());
    expect(overrun.outcome).toEqual({ cost: 70, shortfall: 0, applied: true });
    expect(modest.outcome).toEqual({ cost: 10, shortfall: 0, applied: true });
    expect(rows.map((row) => row.request_id)).toEqual(['modest', 'overrun']);
    expect(accounts.available('tenant')).toBe(20);
  });

  it('caps the charge at `max_cost` and writes off the rest', () => {
    const entry = settlement('entry', 50);
    entry.log = { ...entry.log, maxCost: 30 };
    const accounts = account(100, 0);
    const rows = settleGroup(accounts, [entry], new Map([['entry', 30]]), new Map());
    expect(entry.outcome).toEqual({ cost: 30, shortfall: 20, applied: true });
    expect(rows[0]).toMatchObject({ model_charge: 30, shortfall: 20 });
    expect(accounts.available('tenant')).toBe(70);
  });

  it('never uses credits of other holds', () => {
    const entry = settlement('entry', 50);
    const rows = settleGroup(account(100, 80), [entry], new Map(), new Map());
    expect(entry.outcome).toEqual({ cost: 20, shortfall: 30, applied: true });
    expect(rows[0]).toMatchObject({ model_charge: 20, shortfall: 30 });
  });

  it('applies only the first of two settlements of a request', () => {
    const [first, second] = [settlement('same', 10), settlement('same', 5)];
    const endedHolds = new Map([['same', 10]]);
    const rows = settleGroup(account(100, 0), [first, second], endedHolds, new Map());
    expect(rows).toHaveLength(1);
    expect(second.outcome).toEqual({ cost: 10, shortfall: 0, applied: false });
  });

  it('skips a request that has a row, but replaces the row of a crash', () => {
    const [done, crashed, unsure] = [
      settlement('done', 10),
      settlement('crashed', 10),
      settlement('unsure', 10),
    ];
    unsure.maybeCommitted = true;
    const logged = new Map([
      ['done', { outcome: 'failed', cost: 3, shortfall: 1 }],
      ['crashed', { outcome: 'crashed', cost: 0, shortfall: 0 }],
      ['unsure', { outcome: 'completed', cost: 10, shortfall: 0 }],
    ]);
    const rows = settleGroup(account(100, 0), [done, crashed, unsure], new Map(), logged);
    expect(done.outcome).toEqual({ cost: 3, shortfall: 1, applied: false });
    expect(crashed.outcome).toEqual({ cost: 10, shortfall: 0, applied: true });
    expect(unsure.outcome).toEqual({ cost: 10, shortfall: 0, applied: true });
    expect(rows.map((row) => row.request_id)).toEqual(['crashed']);
  });
});
