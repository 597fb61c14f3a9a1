import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { BOOTSTRAP_AUTHOR } from '../../src/core/access/author.js';
import { AuditLog } from '../../src/core/audit/audit-log.js';
import { GuardrailDirectory } from '../../src/core/guardrails/guardrail-directory.service.js';
import { GuardrailTriggerLog } from '../../src/core/guardrails/guardrail-trigger.log.js';
import { GuardrailEntity } from '../../src/core/guardrails/guardrail.entity.js';
import { GuardrailRepository } from '../../src/core/guardrails/guardrail.repository.js';
import { PatternScanPool } from '../../src/core/guardrails/pattern-scan.pool.js';
import { createTenant } from '../support/ledger-factories.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const DRAFT = {
  name: 'a',
  description: null,
  rules: [{ type: 'secret' as const }],
  patternSizes: [],
  action: 'block' as const,
  appliesTo: ['input' as const],
  isEnabled: true,
  madeBy: 'routing' as const,
};

describe('guardrails in the database', () => {
  let testDatabase: TestDatabase;
  let repository: GuardrailRepository;
  const pool = new PatternScanPool();
  let tenantId: string;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    repository = new GuardrailRepository(
      testDatabase.dataSource.getRepository(GuardrailEntity),
      testDatabase.database,
      new AuditLog(),
    );
  });
  afterAll(() => testDatabase.drop());

  const newTenant = async (): Promise<string> =>
    (await createTenant(testDatabase.database, 'no account')).tenantId;
  const insert = (owner: string): Promise<string> =>
    testDatabase.database.transaction(
      async (transaction) =>
        (await repository.insert(transaction, BOOTSTRAP_AUTHOR, { ...DRAFT, tenantId: owner }, 10))
          .id,
    );
  const update = (id: string, values: Partial<GuardrailEntity>) =>
    testDatabase.database.transaction(async (transaction) =>
      repository.update(
        transaction,
        BOOTSTRAP_AUTHOR,
        await repository.lock(transaction, tenantId, id),
        values,
      ),
    );
  const remove = (id: string) =>
    testDatabase.database.transaction(async (transaction) =>
      repository.remove(transaction, BOOTSTRAP_AUTHOR, await repository.find(tenantId, id)),
    );
  const idsOf = async (directory: GuardrailDirectory, tenant = tenantId): Promise<string[]> =>
    (await directory.of(tenant)).map(({ id }) => id);

  it('apply at once where they were changed, and within a second elsewhere', async () => {
    tenantId = await newTenant();
    const [here, there] = [
      new GuardrailDirectory(repository, pool),
      new GuardrailDirectory(repository, pool),
    ];
    for (const directory of [here, there]) expect(await idsOf(directory)).toEqual([]);

    const made = await insert(tenantId);
    here.forget(tenantId);
    expect(await idsOf(here)).toEqual([made]);
    // Reads them all the time, like a tenant in use.
    let found: string[] = [];
    await until(async () => {
      found = await idsOf(there);
      return found.length > 0;
    }, 20_000);
    expect(found).toEqual([made]);
  });

  it('exclude disabled ones, and reflect a change after it was announced', async () => {
    tenantId = await newTenant();
    const directory = new GuardrailDirectory(repository, pool);
    const id = await insert(tenantId);
    expect(await idsOf(directory)).toEqual([id]);
    await update(id, { name: 'b', action: 'flag' });
    directory.forget(tenantId);
    expect(await directory.of(tenantId)).toMatchObject([{ id, name: 'b', action: 'flag' }]);
    await update(id, { isEnabled: false });
    directory.forget(tenantId);
    expect(await idsOf(directory)).toEqual([]);
  });

  it.each([
    ['deleted', (id: string) => remove(id)],
    ['switched off', (id: string) => update(id, { isEnabled: false })],
  ])('end the searches of one that is %s, and no others', async (_change, change) => {
    tenantId = await newTenant();
    const directory = new GuardrailDirectory(repository, pool);
    const [removed, other] = [await insert(tenantId), await insert(tenantId)];
    expect(await idsOf(directory)).toHaveLength(2);
    const job = { patterns: [{ pattern: 'b', flags: '' }], from: 0, wantsPlace: false };
    // Occupies the tenant's only thread while the guardrail is removed.
    const first = pool.search(tenantId, { ...job, texts: ['abb'] }, { guardrailId: other });
    const search = pool.search(tenantId, { ...job, texts: ['b'] }, { guardrailId: removed });
    const outcome = search.catch((error: unknown) => error);
    const ending = jest.spyOn(pool, 'keepOnly');
    await change(removed);
    directory.forget(tenantId);
    expect(await idsOf(directory)).toEqual([other]);
    expect(ending).toHaveBeenCalledWith(tenantId, new Set([other]));
    ending.mockRestore();
    expect(await first).toHaveLength(1);
    await outcome;
  });

  it('are read for many tenants by one query, and again only after a change', async () => {
    const directory = new GuardrailDirectory(repository, pool);
    const tenants = await Promise.all(Array.from({ length: 5 }, newTenant));
    for (const tenant of tenants) await insert(tenant);
    const heads = jest.spyOn(repository, 'findHeads');
    const definitions = jest.spyOn(repository, 'findDefinitions');
    const first = await Promise.all(tenants.map((tenant) => directory.of(tenant)));
    expect(heads).toHaveBeenCalledTimes(1);
    expect(definitions).toHaveBeenCalledTimes(1);
    await new Promise((resolve) => setTimeout(resolve, 950));
    const second = await Promise.all(tenants.map((tenant) => directory.of(tenant)));
    expect(heads).toHaveBeenCalledTimes(2);
    expect(definitions).toHaveBeenCalledTimes(1);
    expect(second.map(([guardrail]) => guardrail)).toEqual(first.map(([guardrail]) => guardrail));
    heads.mockRestore();
    definitions.mockRestore();
  });

  it('count their triggers across instances, and store each as an event', async () => {
    tenantId = await newTenant();
    const ids = [];
    for (let count = 0; count < 5; count++) {
      ids.push(await insert(tenantId));
    }
    const logs = [1, 2].map(() => new GuardrailTriggerLog(testDatabase.database));
    const createdAt = new Date('2026-01-02T03:04:05Z');
    for (let round = 0; round < 40; round++) {
      for (const [index, log] of logs.entries()) {
        // In opposite orders, which would deadlock if rows were locked in the given order.
        for (const guardrailId of index === 0 ? ids : [...ids].reverse()) {
          const requestId = randomUUID();
          log.record({
            tenantId,
            guardrailId,
            requestId,
            action: 'block',
            direction: 'input',
            createdAt,
          });
        }
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    // A deleted one does not block the others.
    await remove(ids.pop()!);
    for (const log of logs) await log.drain();
    for (const record of await repository.list(tenantId)) {
      expect(record).toMatchObject({ triggerCount: 80, lastTriggeredAt: createdAt });
    }
    const { rows } = await testDatabase.database.query<{ count: number }>(
      'SELECT count(*) AS count FROM guardrail_events WHERE tenant_id = $1',
      [tenantId],
    );
    expect(rows).toEqual([{ count: 400 }]);
  });
});
