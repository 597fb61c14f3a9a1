import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { KeyDirectory } from '../../src/core/access/key-directory.service.js';
import {
  openAccessServices,
  type AccessServices,
  type MadeKey,
} from '../support/access-services.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

describe(`${KeyDirectory.name} on two instances`, () => {
  let testDatabase: TestDatabase;
  let instances: { access: AccessServices; directory: KeyDirectory }[];
  let tenantId: string;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const opened = [
      await openAccessServices(testDatabase.url),
      await openAccessServices(testDatabase.url),
    ];
    instances = opened.map((access) => ({ access, directory: new KeyDirectory(access.apiKeys) }));
    tenantId = await opened[0]!.makeTenant('tenant');
  });

  afterAll(async () => {
    for (const { access } of instances) await access.close();
    await testDatabase.drop();
  });

  it('rejects a revoked key at once where it was revoked, and within a second elsewhere', async () => {
    const [here, there] = instances as [(typeof instances)[0], (typeof instances)[0]];
    const { id, plaintext } = await here.access.makeKey({ tenantId });
    for (const { directory } of instances) {
      expect(await directory.resolve(plaintext)).toMatchObject({ status: 'active' });
    }
    await here.access.apiKeys.revoke(tenantId, id);
    here.directory.forget(id);
    expect(await here.directory.resolve(plaintext)).toMatchObject({ status: 'revoked' });

    // Resolves it all the time, like a key in use.
    let status = 'active';
    await until(async () => {
      status = (await there.directory.resolve(plaintext))?.status ?? 'unknown';
      return status !== 'active';
    }, 20_000);
    expect(status).toBe('revoked');
  });

  it('reads many concurrent keys with few queries', async () => {
    const { access, directory } = instances[0]!;
    const keys: MadeKey[] = [];
    while (keys.length < 600) {
      const batch = Array.from({ length: 100 }, () => access.makeKey({ tenantId }));
      keys.push(...(await Promise.all(batch)));
    }
    const queries = jest.spyOn(access.apiKeys, 'findByHashes');
    const found = await Promise.all(keys.map(({ plaintext }) => directory.resolve(plaintext)));
    expect(found.map((key) => key?.caller.apiKeyId)).toEqual(keys.map(({ id }) => id));
    expect(queries).toHaveBeenCalledTimes(2);
    queries.mockRestore();
  });
});
