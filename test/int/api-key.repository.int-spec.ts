import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ApiKeyRepository } from '../../src/core/access/api-key.repository.js';
import { hashApiKey } from '../../src/core/access/api-key.js';
import { openAccessServices, type AccessServices } from '../support/access-services.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe(ApiKeyRepository.name, () => {
  let testDatabase: TestDatabase;
  let access: AccessServices;
  let tenantId: string;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    access = await openAccessServices(testDatabase.url);
  });

  beforeEach(async () => {
    tenantId = await access.makeTenant(randomUUID());
  });

  afterAll(async () => {
    await access.close();
    await testDatabase.drop();
  });

  it('stores a hash and a preview, and never the key itself', async () => {
    const { id, plaintext } = await access.makeKey({ tenantId });
    const { rows } = await access.database.query<{ row: string; hash: string }>(
      `SELECT api_keys::text AS row, encode(key_hash, 'hex') AS hash FROM api_keys WHERE id = $1`,
      [id],
    );
    expect(rows[0]?.hash).toBe(hashApiKey(plaintext));
    expect(rows[0]?.row).not.toContain(plaintext.slice(8, -8));
  });

  it('finds keys by their hashes and leaves out unknown ones', async () => {
    const expiresAt = new Date('2030-01-02T03:04:05.678Z');
    const one = await access.makeKey({ tenantId, expiresAt, rateLimitPerMinute: 5 });
    const other = await access.makeKey({ tenantId, type: 'management' });
    const hashes = [one.plaintext, other.plaintext, 'sk-unknown'].map(hashApiKey);
    const found = await access.apiKeys.findByHashes(hashes);
    expect(found).toHaveLength(2);
    expect(found).toEqual(
      expect.arrayContaining([
        {
          ancestors: null,
          hash: hashes[0],
          id: one.id,
          tenantId,
          type: 'routing',
          rateLimitPerMinute: 5,
          name: 'a key',
          keySpendLimit: null,
          tenantSpendLimit: null,
          isSuspended: false,
          contentLog: null,
          limits: [null, null],
          tenantLimits: [null, null],
          endUserLimits: null,
          hasEndUserLimits: false,
          expiresAt,
          recovery: null,
          revokedAt: null,
          isBoundByPerson: false,
          makerRole: null,
          withheldRights: [],
        },
        expect.objectContaining({ hash: hashes[1], id: other.id, type: 'management' }),
      ]),
    );
  });

  it('finds keys through the index, however many there are', async () => {
    await access.database.transaction(async (client) => {
      await client.query(
        `INSERT INTO api_keys (tenant_id, type, name, key_hash, key_preview, rate_limit_per_minute)
         SELECT $1, 'routing', 'filler', sha256(convert_to(n::text, 'UTF8')), 'sk-', 1
           FROM generate_series(1, 10000) n`,
        [tenantId],
      );
      await client.query('ANALYZE api_keys');
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN SELECT id FROM api_keys WHERE key_hash = ANY($1::bytea[])`,
        [[Buffer.from(hashApiKey('sk-a'), 'hex')]],
      );
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('api_keys_key_hash_key');
    });
  });

  it('rejects a duplicate key of any tenant', async () => {
    const { plaintext } = await access.makeKey({ tenantId });
    const draft = {
      tenantId: await access.makeTenant(randomUUID()),
      type: 'routing' as const,
      name: 'again',
      plaintext,
      rateLimitPerMinute: 1,
      expiresAt: null,
    };
    await expect(access.apiKeys.insert(draft)).resolves.toBeUndefined();
  });

  it.each(['plain', 'NUL \u0000 inside', 'lone \ud800 surrogate', 'back\\slash \\u0000', '😀'])(
    'returns the name %j unchanged',
    async (name) => {
      const { id } = await access.makeKey({ tenantId, name });
      expect((await access.apiKeys.findOfTenant(tenantId, id))?.name).toBe(name);
      await access.apiKeys.updateNameAndExpiry(tenantId, id, { name: `${name}!` });
      expect((await access.apiKeys.findOfTenant(tenantId, id))?.name).toBe(`${name}!`);
    },
  );

  it("lists a tenant's keys, newest first, and no other tenant's", async () => {
    const first = await access.makeKey({ tenantId });
    const second = await access.makeKey({ tenantId });
    await access.makeKey({ tenantId: await access.makeTenant(randomUUID()) });
    const listed = await access.apiKeys.listOfTenant(tenantId);
    expect(listed.map(({ id }) => id)).toEqual([second.id, first.id]);
    // Callers that list keys do not need the hash.
    expect(listed[0]?.keyHash).toBeUndefined();
  });

  it('neither finds nor changes a key for another tenant', async () => {
    const { id } = await access.makeKey({ tenantId, name: 'mine' });
    const otherTenant = await access.makeTenant(randomUUID());
    expect(await access.apiKeys.findOfTenant(otherTenant, id)).toBeNull();
    await access.apiKeys.updateNameAndExpiry(otherTenant, id, { name: 'stolen' });
    await access.apiKeys.revoke(otherTenant, id);
    expect(await access.apiKeys.findOfTenant(tenantId, id)).toMatchObject({
      name: 'mine',
      revokedAt: null,
    });
  });

  it('changes only the given fields', async () => {
    const expiresAt = new Date('2030-01-01T00:00:00Z');
    const { id } = await access.makeKey({ tenantId, name: 'old' });
    const before = await access.apiKeys.findOfTenant(tenantId, id);
    await access.apiKeys.updateNameAndExpiry(tenantId, id, { expiresAt });
    const after = await access.apiKeys.findOfTenant(tenantId, id);
    expect(after).toMatchObject({ name: 'old', expiresAt });
    expect(after!.updatedAt.getTime()).toBeGreaterThanOrEqual(before!.updatedAt.getTime());
    await access.apiKeys.updateNameAndExpiry(tenantId, id, { name: 'new' });
    expect(await access.apiKeys.findOfTenant(tenantId, id)).toMatchObject({
      name: 'new',
      expiresAt,
    });
    await access.apiKeys.updateNameAndExpiry(tenantId, id, { expiresAt: null });
    expect(await access.apiKeys.findOfTenant(tenantId, id)).toMatchObject({ expiresAt: null });
  });

  it('keeps the time of the first revocation', async () => {
    const { id } = await access.makeKey({ tenantId });
    await access.apiKeys.revoke(tenantId, id);
    const first = await access.apiKeys.findOfTenant(tenantId, id);
    expect(first?.revokedAt).toBeInstanceOf(Date);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await access.apiKeys.revoke(tenantId, id);
    expect(await access.apiKeys.findOfTenant(tenantId, id)).toEqual(first);
  });
});
