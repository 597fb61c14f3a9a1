import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { RequestLogFilters } from '../../src/core/request-log/request-log-filters.js';
import type { RequestLogRow } from '../../src/core/request-log/request-log-row.js';
import { RequestLogReader } from '../../src/core/request-log/request-log.reader.js';
import { insertRequestLogRow, noArchive, requestLogRow } from '../support/request-log-rows.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const ALL = { limit: 1000, offset: 0 };

describe(RequestLogReader.name, () => {
  let testDatabase: TestDatabase;
  let reader: RequestLogReader;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    reader = new RequestLogReader(testDatabase.database, noArchive());
  });
  afterAll(() => testDatabase.drop());

  const insert = (tenantId: string, overrides: Partial<RequestLogRow> = {}) =>
    insertRequestLogRow(testDatabase.database, tenantId, overrides);

  it('returns every field of a row as written', async () => {
    const tenantId = randomUUID();
    const written = await insert(tenantId, {
      outcome: 'failed',
      status: 'error',
      errorType: 'provider_error',
      finishReason: null,
      trafficMode: 'byok',
      usageSource: 'estimated',
      cost: 9_000_000_000_000,
      modelCharge: 0,
      byokPlatformFee: 8_999_999_999_990,
      managedToolFee: 7,
      agentRuntimeFee: 3,
      billingNote: 'Billed by your provider.',
      streamed: true,
      createdAt: new Date('2026-01-15T12:00:00.125Z'),
    });
    expect(await reader.findByRequestId(tenantId, written.requestId)).toEqual(written);
    expect((await reader.pageOfTenant(tenantId, {}, ALL)).rows).toEqual([written]);
  });

  it.each(['a\u0000b', 'lone \ud800 surrogate', 'back\\slash', 'literal \\u0000'])(
    'finds and shows the text %j that PostgreSQL would reject',
    async (text) => {
      const tenantId = randomUUID();
      const row = await insert(tenantId, { model: text, finishReason: text, billingNote: text });
      expect((await reader.pageOfTenant(tenantId, { model: text }, ALL)).rows).toEqual([row]);
      expect((await reader.pageOfTenant(tenantId, { model: text }, ALL)).total).toBe(1);
    },
  );

  it('lists newest first, and the later row first within the same instant', async () => {
    const tenantId = randomUUID();
    const evening = await insert(tenantId, { createdAt: new Date('2026-01-15T18:00:00Z') });
    const noon: string[] = [];
    // Enough rows for their ids to gain a digit.
    for (let row = 0; row < 110; row++) {
      const createdAt = new Date('2026-01-15T12:00:00Z');
      noon.unshift((await insert(tenantId, { createdAt })).id);
    }
    const rows = (await reader.pageOfTenant(tenantId, {}, ALL)).rows;
    expect(rows.map((row) => row.id)).toEqual([evening.id, ...noon]);
  });

  it('pages show each row once', async () => {
    const tenantId = randomUUID();
    for (let row = 0; row < 7; row++) await insert(tenantId);
    const pages = await Promise.all(
      [0, 3, 6, 9].map(
        async (offset) => (await reader.pageOfTenant(tenantId, {}, { limit: 3, offset })).rows,
      ),
    );
    expect(pages.map((page) => page.length)).toEqual([3, 3, 1, 0]);
    expect(pages.flat()).toEqual((await reader.pageOfTenant(tenantId, {}, ALL)).rows);
    expect((await reader.pageOfTenant(tenantId, {}, ALL)).total).toBe(7);
  });

  it('accepts the largest possible offset', async () => {
    const page = { limit: 1, offset: Number.MAX_SAFE_INTEGER };
    expect((await reader.pageOfTenant(randomUUID(), {}, page)).rows).toEqual([]);
  });

  describe('with filters', () => {
    const tenantId = randomUUID();
    const apiKeyId = randomUUID();
    const rows: Record<string, RequestLogRow> = {};

    beforeAll(async () => {
      rows.early = await insert(tenantId, { createdAt: new Date('2026-01-01T00:00:00Z') });
      rows.failed = await insert(tenantId, {
        status: 'error',
        outcome: 'failed',
        model: 'sandbox/words',
        createdAt: new Date('2026-01-02T00:00:00Z'),
      });
      rows.late = await insert(tenantId, {
        apiKeyId,
        model: 'sandbox/words',
        createdAt: new Date('2026-01-03T00:00:00Z'),
      });
    });

    it.each<[string, RequestLogFilters, string[]]>([
      ['none', {}, ['late', 'failed', 'early']],
      ['a status', { status: 'error' }, ['failed']],
      ['a model', { model: 'sandbox/words' }, ['late', 'failed']],
      ['the beginning of a model', { model: 'sandbox' }, []],
      ['a pattern', { model: 'sandbox/%' }, []],
      ['a key', { apiKeyId }, ['late']],
      ['another key', { apiKeyId: randomUUID() }, []],
      ['a start, itself included', { start: at('2026-01-02') }, ['late', 'failed']],
      ['an end, itself excluded', { end: at('2026-01-02') }, ['early']],
      ['both', { start: at('2026-01-01'), end: at('2026-01-03') }, ['failed', 'early']],
      ['an end before the start', { start: at('2026-01-03'), end: at('2026-01-01') }, []],
      ['the oldest start', { start: at('0000-01-01') }, ['late', 'failed', 'early']],
      ['an end after 9999', { end: at('+010000-01-01') }, ['late', 'failed', 'early']],
      [
        'all of them',
        {
          status: 'success',
          model: 'sandbox/words',
          apiKeyId,
          start: at('2026-01-03'),
          end: at('2026-01-04'),
        },
        ['late'],
      ],
    ])('selects and counts the right rows: %s', async (_, filters, names) => {
      const expected = names.map((name) => rows[name]);
      expect((await reader.pageOfTenant(tenantId, filters, ALL)).rows).toEqual(expected);
      expect((await reader.pageOfTenant(tenantId, filters, ALL)).total).toBe(expected.length);
    });
  });

  it('never shows, counts or finds a row of another tenant', async () => {
    const [tenantId, otherId, apiKeyId] = [randomUUID(), randomUUID(), randomUUID()];
    const own = await insert(tenantId, { apiKeyId });
    const foreign = await insert(otherId, { ...requestLogRow({ apiKeyId }) });
    for (const filters of [{}, { apiKeyId }, { model: own.model }, { status: own.status }]) {
      expect((await reader.pageOfTenant(tenantId, filters, ALL)).rows).toEqual([own]);
      expect((await reader.pageOfTenant(tenantId, filters, ALL)).total).toBe(1);
    }
    expect(await reader.findByRequestId(tenantId, foreign.requestId)).toBeUndefined();
    expect(await reader.findByRequestId(otherId, foreign.requestId)).toEqual(foreign);
  });

  it('finds nothing for an unknown request', async () => {
    expect(await reader.findByRequestId(randomUUID(), randomUUID())).toBeUndefined();
  });
});

function at(text: string): Date {
  return new Date(`${text}T00:00:00Z`);
}
