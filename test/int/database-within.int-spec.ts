import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { QueryResultRow } from 'pg';
import type { Repository } from 'typeorm';
import { TenantEntity } from '../../src/core/tenants/tenant.entity.js';
import type { SqlExecutor } from '../../src/platform/database/database.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('Database.within', () => {
  let test: TestDatabase;
  let tenants: Repository<TenantEntity>;

  beforeAll(async () => {
    test = await createTestDatabase();
    tenants = test.dataSource.getRepository(TenantEntity);
  });
  beforeEach(() => tenants.deleteAll());
  afterAll(() => test.drop());

  const insertSql = (executor: SqlExecutor, name: string) =>
    executor.query('INSERT INTO tenants (name) VALUES ($1)', [name]);
  const names = async () =>
    (await tenants.find({ order: { name: 'ASC' } })).map(({ name }) => name);

  it('commits entities and plain SQL together', async () => {
    await test.database.transaction(async (client) => {
      await insertSql(client, 'by SQL');
      const within = test.database.within(client, tenants);
      await within.insert({ name: 'by entity \u0000' });
      expect(await within.count()).toBe(2);
      expect(await names()).toEqual([]);
    });
    expect(await names()).toEqual(['by SQL', 'by entity \u0000']);
  });

  it('rolls both back when the work throws', async () => {
    const failing = test.database.transaction(async (client) => {
      await insertSql(client, 'by SQL');
      await test.database.within(client, tenants).insert({ name: 'by entity' });
      throw new Error('stop');
    });
    await expect(failing).rejects.toThrow('stop');
    expect(await names()).toEqual([]);
  });

  it('limits what `save` begins to a savepoint', async () => {
    const failing = test.database.transaction(async (client) => {
      await test.database.within(client, tenants).save({ name: 'saved' });
      throw new Error('stop');
    });
    await expect(failing).rejects.toThrow('stop');
    expect(await names()).toEqual([]);
  });

  it('reads through the given executor', async () => {
    await tenants.insert({ name: 'one' });
    const texts: string[] = [];
    const executor: SqlExecutor = {
      query<Row extends QueryResultRow>(text: string, values?: unknown[]) {
        texts.push(text);
        return test.database.lookUps.query<Row>(text, values);
      },
    };
    expect(await test.database.within(executor, tenants).findBy({ name: 'one' })).toHaveLength(1);
    expect(texts).toHaveLength(1);
    expect(test.database.within(test.database, tenants)).toBe(tenants);
  });
});
