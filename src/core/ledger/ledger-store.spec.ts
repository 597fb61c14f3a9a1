import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { NO_USAGE } from '../../canonical/usage.js';
import type { Database } from '../../platform/database/database.js';
import { DatabaseUnavailableError } from '../../platform/errors/gateway-errors.js';
import { InstanceService } from './instance.service.js';
import type { SettleOperation } from './ledger-operations.js';
import { LedgerStore } from './ledger-store.js';
import type { SettlementJournal } from './settlement-journal.js';

let errors: string[];

beforeEach(() => {
  errors = [];
  jest.spyOn(Logger.prototype, 'error').mockImplementation((message: unknown) => {
    errors.push(String(message));
  });
});

afterEach(() => {
  jest.restoreAllMocks();
});

function settlement(): SettleOperation {
  return {
    charge: { modelCharge: 5, byokPlatformFee: 0, managedToolFee: 0 },
    log: {
      requestId: randomUUID(),
      tenantId: 'tenant',
      apiKeyId: 'key',
      endpoint: 'chat',
      model: 'm',
      provider: 'p',
      outcome: 'completed',
      errorType: null,
      finishReason: null,
      trafficMode: 'shared',
      usage: NO_USAGE,
      usageSource: 'none',
      billingNote: null,
      streamed: false,
      latencyMs: 0,
      generationTimeMs: 0,
      createdAt: new Date(),
    },
  };
}

describe(LedgerStore.name, () => {
  it('queues a bounded number of settlements while the database is unavailable, and logs the rest as lost', async () => {
    let lost = 0;
    // The connection neither arrives nor fails.
    const pool = { connect: () => new Promise(() => undefined) };
    const database = { ledgerPool: pool } as unknown as Database;
    const store = new LedgerStore(database, new InstanceService(database), {
      observeLoss: () => lost++,
    } as unknown as SettlementJournal);
    for (let count = 0; count < 20_000; count++) void store.settle(settlement());
    await new Promise(setImmediate);
    expect(store.pendingSettlements).toBe(20_000);
    expect(errors).toEqual([]);

    const surplus = settlement();
    await expect(store.settle(surplus)).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await expect(store.record(surplus.log)).rejects.toBeInstanceOf(DatabaseUnavailableError);
    expect(store.pendingSettlements).toBe(20_000);
    expect(errors).toHaveLength(2);
    expect(errors[0]).toContain(surplus.log.requestId);
    expect(errors[0]).toContain('5 credits');
    expect(lost).toBe(2);
  });
});
