import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { fromStoredText } from '../../src/platform/database/stored-text.js';
import {
  connectLedger,
  createTenant,
  holdOperation,
  logDraft,
  logRowOf,
  openHold,
  settleOperation,
  snapshot,
  type TestLedger,
  type TestTenant,
} from '../support/ledger-factories.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let testDatabase: TestDatabase;
let ledger: TestLedger;

beforeAll(async () => {
  Logger.overrideLogger(false);
  testDatabase = await createTestDatabase();
  ledger = await connectLedger(testDatabase.url);
});

afterAll(async () => {
  await ledger.close();
  await testDatabase.drop();
});

const open = (tenant: TestTenant, amount: number) => openHold(ledger, tenant, amount);
const logRow = (requestId: string) => logRowOf(testDatabase.database, requestId);

describe('bad values', () => {
  it('stores text that PostgreSQL rejects, next to other rows', async () => {
    const tenant = await createTenant(testDatabase.database, 1_000);
    const texts = ['plain', 'nul \u0000 inside', 'lone \ud800', '\udc00 lone', 'x'.repeat(2 ** 20)];
    const requestIds = await Promise.all(texts.map(() => open(tenant, 10)));
    const outcomes = await Promise.all(
      texts.map((text, index) =>
        ledger.store.settle(
          settleOperation(tenant, requestIds[index]!, 10, { finishReason: text, model: text }),
        ),
      ),
    );
    expect(outcomes.map(({ applied }) => applied)).toEqual(texts.map(() => true));
    for (const [index, text] of texts.entries()) {
      const row = await logRow(requestIds[index]!);
      expect(fromStoredText(row!.finish_reason as string)).toBe(text);
      expect(fromStoredText(row!.model as string)).toBe(text);
    }
  });

  it('fails only the operation that cannot be stored', async () => {
    const tenant = await createTenant(testDatabase.database, 100);
    const held = await open(tenant, 10);
    const [bad, good, worse, settled, recorded] = await Promise.allSettled([
      ledger.store.hold(holdOperation(tenant, 10, { requestId: 'not-a-uuid' })),
      ledger.store.hold(holdOperation(tenant, 10)),
      ledger.store.hold(holdOperation({ ...tenant, tenantId: 'neither' }, 10)),
      ledger.store.settle(settleOperation(tenant, held, 5)),
      ledger.store.record(logDraft(tenant, 'nor-this')),
    ]);
    expect([bad.status, worse.status, recorded.status]).toEqual(Array(3).fill('rejected'));
    expect(good).toMatchObject({ value: { admitted: true } });
    expect(settled).toMatchObject({ value: { cost: 5, applied: true } });
    expect(await snapshot(testDatabase.database, tenant.tenantId)).toMatchObject({
      balance: 95,
      held: 10,
      holds: 10,
    });
  });

  it('ends the hold and stores a row when a settlement can only be stored without its texts', async () => {
    const tenant = await createTenant(testDatabase.database, 100);
    const [poisoned, dateless] = [await open(tenant, 10), await open(tenant, 10)];
    const outcomes = await Promise.all([
      ledger.store.settle(
        settleOperation(tenant, poisoned, 7, { apiKeyId: 'sk-what', model: 'm' }),
      ),
      ledger.store.settle(
        settleOperation(tenant, dateless, 2, {
          createdAt: new Date(NaN),
          usage: { ...logDraft(tenant, '').usage, inputTokens: NaN, outputTokens: 1e12 },
        }),
      ),
    ]);
    expect(outcomes.map(({ applied }) => applied)).toEqual([true, true]);
    expect(await logRow(poisoned)).toMatchObject({ model: '', finish_reason: null, cost: 7 });
    expect(await logRow(dateless)).toMatchObject({
      prompt_tokens: 0,
      completion_tokens: 2 ** 31 - 1,
    });
    expect(await snapshot(testDatabase.database, tenant.tenantId)).toMatchObject({
      balance: 91,
      held: 0,
    });
  });
});

describe('ledger_entries', () => {
  it.each([
    'UPDATE ledger_entries SET amount = 1',
    'DELETE FROM ledger_entries',
    'TRUNCATE ledger_entries',
  ])('rejects %s', async (statement) => {
    await createTenant(testDatabase.database, 10);
    await expect(testDatabase.database.query(statement)).rejects.toThrow('append-only');
  });
});
