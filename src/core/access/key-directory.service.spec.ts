import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { StoredBounds } from './key-rights.js';
import type { ApiKeyLookup } from './api-key-lookup.js';
import type { ApiKeyRepository } from './api-key.repository.js';
import { hashApiKey } from './api-key.js';
import { KeyDirectory, type ResolvedKey } from './key-directory.service.js';

describe(KeyDirectory.name, () => {
  let table: FakeTable;
  let directory: KeyDirectory;

  beforeEach(() => {
    jest.useFakeTimers();
    table = new FakeTable();
    directory = new KeyDirectory(table as unknown as ApiKeyRepository);
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('reads a key once and then returns it without a promise', async () => {
    table.add('sk-a', { tenantId: 'tenant-a', rateLimitPerMinute: 7 });
    const expected = {
      status: 'active',
      caller: {
        tenantId: 'tenant-a',
        apiKeyId: 'id-of-sk-a',
        keyType: 'routing',
        keyName: 'a key',
        rateLimitPerMinute: 7,
      },
      isSuspended: false,
    };
    expect(await resolve('sk-a')).toEqual(expected);
    expect(directory.resolve('sk-a')).toEqual(expected);
    expect(table.queries).toHaveLength(1);
  });

  it('looks an unknown key up three times, then at most once a second', async () => {
    for (let index = 0; index < 50; index++) expect(await resolve('sk-unknown')).toBeUndefined();
    expect(table.queries).toHaveLength(3);
    expect(await resolve('sk-other')).toBeUndefined();
    expect(table.queries).toHaveLength(4);
    table.add('sk-unknown');
    jest.advanceTimersByTime(900);
    expect(await resolve('sk-unknown')).toMatchObject({ status: 'active' });
  });

  it('caches a bounded number of unknown keys', async () => {
    for (let index = 0; index <= 10_000; index++) {
      for (let look = 0; look < 3; look++) void directory.resolve(`sk-${index}`);
    }
    await jest.runAllTimersAsync();
    const queries = table.queries.length;
    expect(directory.resolve('sk-10000')).toBeUndefined();
    expect(directory.resolve('sk-0')).toBeInstanceOf(Promise);
    await jest.runAllTimersAsync();
    expect(table.queries).toHaveLength(queries + 1);
  });

  it('refreshes within a second and sees changes by other processes', async () => {
    const key = table.add('sk-a');
    await resolve('sk-a');
    key.revokedAt = new Date();
    jest.advanceTimersByTime(890);
    expect(directory.resolve('sk-a')).toMatchObject({ status: 'active' });
    jest.advanceTimersByTime(10);
    expect(await resolve('sk-a')).toMatchObject({ status: 'revoked' });
  });

  it('refreshes a busy key without making requests wait', async () => {
    const key = table.add('sk-a');
    await resolve('sk-a');
    for (let ms = 0; ms < 3_000; ms += 50) {
      await jest.advanceTimersByTimeAsync(50);
      expect(directory.resolve('sk-a')).not.toBeInstanceOf(Promise);
    }
    expect(table.queries.length).toBeLessThanOrEqual(9);
    key.revokedAt = new Date();
    let status: string | undefined = 'active';
    let waitedMs = 0;
    for (; status === 'active'; waitedMs += 50) {
      await jest.advanceTimersByTimeAsync(50);
      status = (directory.resolve('sk-a') as ResolvedKey).status;
    }
    expect(waitedMs).toBeLessThan(900);
  });

  it('includes the query time in the age', async () => {
    table.add('sk-a');
    table.latencyMs = 500;
    await resolve('sk-a');
    jest.advanceTimersByTime(401);
    expect(directory.resolve('sk-a')).toBeInstanceOf(Promise);
    await jest.runAllTimersAsync();
  });

  it('counts a nested key against its ancestors, and against itself when its limit is lower', async () => {
    const root = { id: 'root', rateLimitPerMinute: 10 };
    const between = { id: 'between', rateLimitPerMinute: 20 };
    const callerOf = async (key: string, rateLimitPerMinute: number) => {
      table.add(key, {
        rateLimitPerMinute,
        ancestors: [between, root].map((each) => ({ ...each, ...UNBOUND, limits: [] })),
      });
      return (await resolve(key))!.caller;
    };
    expect(await callerOf('sk-a', 10)).toMatchObject({ rateLimitPerMinute: 10, countsOn: [root] });
    expect(await callerOf('sk-b', 3)).toMatchObject({
      rateLimitPerMinute: 3,
      countsOn: [{ id: 'id-of-sk-b', rateLimitPerMinute: 3 }, root],
    });
  });

  it('combines limits of the key, its ancestors and its tenant; none when nothing is set', async () => {
    table.add('sk-free');
    expect((await resolve('sk-free'))!.caller).not.toHaveProperty('limits');
    const day = (credits: number) => ({ budgets: [{ period: 'day' as const, credits }] });
    table.add('sk-child', {
      limits: [{}, null],
      ancestors: [{ id: 'above', rateLimitPerMinute: 5, ...UNBOUND, limits: [day(7), day(6)] }],
      tenantLimits: [null, { max_in_flight: 3 }],
    });
    const { limits, countsOn } = (await resolve('sk-child'))!.caller;
    expect(limits?.subjects).toMatchObject([
      { scope: 'api_key', id: 'above', ...day(6) },
      { scope: 'tenant', id: 'tenant', max_in_flight: 3 },
    ]);
    expect(limits).not.toHaveProperty('endUsers');
    expect(countsOn).toEqual([{ id: 'above', rateLimitPerMinute: 5 }]);
    table.add('sk-for-users', { endUserLimits: day(1) });
    expect((await resolve('sk-for-users'))!.caller.limits).toEqual({
      subjects: [],
      endUsers: { each: day(1), areSome: false },
    });
  });

  it('expires a cached key on time', async () => {
    table.add('sk-a', { expiresAt: new Date(Date.now() + 300) });
    await resolve('sk-a');
    expect(directory.resolve('sk-a')).toMatchObject({ status: 'active' });
    jest.advanceTimersByTime(300);
    expect(directory.resolve('sk-a')).toMatchObject({ status: 'expired' });
    expect(table.queries).toHaveLength(1);
  });

  it('finds a new key that was looked up before it existed', async () => {
    expect(await resolve('sk-a')).toBeUndefined();
    table.add('sk-a');
    expect(await resolve('sk-a')).toMatchObject({ status: 'active' });
  });

  it('does not query for text that cannot be a key', () => {
    expect(directory.resolve('not-a-key')).toBeUndefined();
    expect(table.queries).toHaveLength(0);
  });

  it('reads concurrent keys in one query, each once', async () => {
    table.add('sk-a');
    table.add('sk-b');
    const answers = Promise.all(
      ['sk-a', 'sk-b', 'sk-a', 'sk-c'].map((key) => directory.resolve(key)),
    );
    await jest.runAllTimersAsync();
    expect((await answers).map((key) => key?.caller.apiKeyId)).toEqual([
      'id-of-sk-a',
      'id-of-sk-b',
      'id-of-sk-a',
      undefined,
    ]);
    expect(table.queries).toEqual([['sk-a', 'sk-b', 'sk-c'].map(hashApiKey)]);
  });

  it('runs one query at a time and batches what arrived meanwhile', async () => {
    table.latencyMs = 10;
    const answers = [directory.resolve('sk-a')];
    await jest.advanceTimersByTimeAsync(5);
    answers.push(directory.resolve('sk-b'), directory.resolve('sk-c'));
    await jest.runAllTimersAsync();
    await Promise.all(answers);
    expect(table.queries).toEqual([['sk-a'].map(hashApiKey), ['sk-b', 'sk-c'].map(hashApiKey)]);
  });

  it('forgets a changed key at once', async () => {
    const key = table.add('sk-a');
    await resolve('sk-a');
    key.revokedAt = new Date();
    directory.forget('id-of-sk-a');
    expect(await resolve('sk-a')).toMatchObject({ status: 'revoked' });
  });

  it('ignores a query that was running when the key changed', async () => {
    const key = table.add('sk-a');
    table.latencyMs = 10;
    const answer = directory.resolve('sk-a') as Promise<ResolvedKey>;
    await jest.advanceTimersByTimeAsync(5);
    key.revokedAt = new Date();
    directory.forget('id-of-sk-a');
    await jest.runAllTimersAsync();
    expect(await answer).toMatchObject({ status: 'revoked' });
    expect(directory.resolve('sk-a')).toMatchObject({ status: 'revoked' });
  });

  it('rejects waiting requests on failure and retries for the next', async () => {
    table.add('sk-a');
    table.failure = new Error('no database');
    const answers = Promise.allSettled([directory.resolve('sk-a'), directory.resolve('sk-b')]);
    await jest.runAllTimersAsync();
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    table.failure = undefined;
    expect(await resolve('sk-a')).toMatchObject({ status: 'active' });
  });

  it('caches a bounded number of keys, the latest read', async () => {
    const keys = Array.from({ length: 20_001 }, (_, index) => `sk-${index}`);
    keys.forEach((key) => table.add(key));
    const answers = Promise.all(keys.map((key) => directory.resolve(key)));
    await jest.runAllTimersAsync();
    await answers;
    const { keys: inner } = directory as unknown as {
      keys: Record<string, Map<string, unknown>>;
    };
    const { entries, idsByName } = inner;
    expect([entries?.size, idsByName?.size]).toEqual([20_000, 20_000]);
    expect(entries?.has(hashApiKey('sk-0'))).toBe(false);
    expect(entries?.has(hashApiKey('sk-20000'))).toBe(true);
  });

  async function resolve(key: string): Promise<ResolvedKey | undefined> {
    const answer = directory.resolve(key);
    await jest.runAllTimersAsync();
    return answer;
  }
});

const UNBOUND: StoredBounds = { withheldRights: [], makerRole: null, isBoundByPerson: false };

/** Fake of the table: a query sees the rows as of the time it is sent. */
class FakeTable {
  readonly queries: string[][] = [];
  latencyMs = 0;
  failure: Error | undefined;
  private readonly rows = new Map<string, ApiKeyLookup>();

  add(plaintext: string, overrides?: Partial<ApiKeyLookup>): ApiKeyLookup {
    const row: ApiKeyLookup = {
      hash: hashApiKey(plaintext),
      id: `id-of-${plaintext}`,
      tenantId: 'tenant',
      type: 'routing',
      name: 'a key',
      rateLimitPerMinute: 600,
      ancestors: null,
      keySpendLimit: null,
      tenantSpendLimit: null,
      limits: [null, null],
      tenantLimits: [null, null],
      endUserLimits: null,
      hasEndUserLimits: false,
      expiresAt: null,
      revokedAt: null,
      isSuspended: false,
      ...UNBOUND,
      contentLog: null,
      recovery: null,
      ...overrides,
    };
    this.rows.set(row.hash, row);
    return row;
  }

  async findByHashes(hashes: readonly string[]): Promise<ApiKeyLookup[]> {
    this.queries.push([...hashes]);
    const found = hashes.flatMap((hash) => {
      const row = this.rows.get(hash);
      return row ? [{ ...row }] : [];
    });
    await new Promise((resolve) => setTimeout(resolve, this.latencyMs));
    if (this.failure) throw this.failure;
    return found;
  }
}
