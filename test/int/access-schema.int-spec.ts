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
    // The foreign key to a table of people, whose entity is not of this room.
    const foreign = /DROP CONSTRAINT "api_keys_bound_by_person_id_fkey"/;
    const queries = difference.upQueries.map(({ query }) => query);
    expect(queries.filter((query) => !foreign.test(query))).toEqual([]);
  });
});
