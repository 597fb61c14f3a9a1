import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openAccessServices, type AccessServices } from '../support/access-services.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('the entities of access/', () => {
  let testDatabase: TestDatabase;
  let access: AccessServices;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    access = await openAccessServices(testDatabase.url);
  });

  afterAll(async () => {
    await access.close();
    await testDatabase.drop();
  });

  it('describe the migrated tables exactly', async () => {
    const difference = await access.dataSource.driver.createSchemaBuilder().log();
    expect(difference.upQueries.map(({ query }) => query)).toEqual([]);
  });
});
