import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DAY_MS } from '../../src/platform/time/dates.js';
import { randomBytes, randomUUID } from 'node:crypto';
import { ConversationsService } from '../../src/features/responses/conversations.service.js';
import { ConversationEntity } from '../../src/features/responses/conversations/conversation.entity.js';
import { ConversationItemEntity } from '../../src/features/responses/conversations/conversation-item.entity.js';
import { StoredConversationsRepository } from '../../src/features/responses/conversations/stored-conversations.repository.js';
import { newResponseId } from '../../src/features/responses/item-id.js';
import { ResponseRetentionService } from '../../src/features/responses/stored-responses.service.js';
import {
  StoredResponsesRepository,
  type Conversation,
} from '../../src/features/responses/stored-responses.repository.js';
import { StoredContentLimit } from '../../src/features/responses/stored-content-limit.service.js';
import { storedResponseRecord } from '../../src/features/responses/stored-turn.js';
import type { BudgetedRequest } from '../../src/platform/http/body-budget.js';
import { RequestRoom } from '../../src/platform/http/request-room.js';
import { GatewayMetrics } from '../../src/platform/metrics/gateway-metrics.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const TENANT = randomUUID();
const NOW = new Date('2026-06-30T12:00:00Z');
/** The room of a request without a memory budget. */
const room = new RequestRoom({} as BudgetedRequest);

function conversationsIn({ dataSource, database }: TestDatabase): StoredConversationsRepository {
  return new StoredConversationsRepository(
    dataSource.getRepository(ConversationEntity),
    dataSource.getRepository(ConversationItemEntity),
    database,
  );
}

describe('the table of stored responses', () => {
  let own: TestDatabase;
  let repository: StoredResponsesRepository;
  let conversations: ConversationsService;

  beforeAll(async () => {
    own = await createTestDatabase();
    repository = new StoredResponsesRepository(own.database);
    conversations = new ConversationsService(repository);
  });
  beforeEach(async () => {
    await own.database.query('TRUNCATE stored_responses');
  });
  afterAll(async () => {
    await own.drop();
  });

  interface TurnOptions {
    after?: string;
    ageDays?: number;
    tenantId?: string;
    input?: unknown;
    status?: 'completed' | 'failed';
    contextBytes?: number;
  }

  /** Stores a turn like the service and returns its id. */
  const keep = async (options: TurnOptions = {}): Promise<string> => {
    const {
      after,
      ageDays = 0,
      tenantId = TENANT,
      input = 'Hello',
      status = 'completed',
    } = options;
    let conversation: Conversation | undefined;
    if (after !== undefined) conversation = await conversations.load(tenantId, after, room);
    if (conversation && options.contextBytes) conversation.contextBytes = options.contextBytes;
    const id = newResponseId();
    const record = storedResponseRecord({
      id,
      tenantId,
      requestId: randomUUID(),
      createdAt: new Date(NOW.getTime() - ageDays * DAY_MS),
      conversation,
      input: JSON.stringify(input),
      ownItems: [],
      isStored: true,
      answer: {
        status,
        model: 'a/b',
        response: JSON.stringify({ id, output: [] }),
        output: JSON.stringify([{ type: 'message', role: 'assistant', content: `after ${id}` }]),
      },
    });
    await own.database.query(record.text, record.values);
    return id;
  };

  const ids = async (): Promise<string[]> =>
    (await own.database.query<{ id: string }>('SELECT id FROM stored_responses')).rows
      .map(({ id }) => id)
      .sort();

  it('returns fifty turns in order with one query', async () => {
    let last: string | undefined;
    const expected: unknown[] = [];
    for (let turn = 0; turn < 50; turn++) {
      last = await keep({ input: `turn ${turn}`, ...(last !== undefined && { after: last }) });
      expected.push({ type: 'message', role: 'user', content: `turn ${turn}` });
      expected.push({ type: 'message', role: 'assistant', content: `after ${last}` });
    }
    let queries = 0;
    const query = own.database.query.bind(own.database);
    const counting = new ConversationsService(
      new StoredResponsesRepository(
        Object.assign(Object.create(own.database) as typeof own.database, {
          query: (...args: Parameters<typeof query>) => {
            queries++;
            return query(...args);
          },
        }),
      ),
    );
    const { items, previousResponseId } = await counting.load(TENANT, last!, room);
    expect(items).toEqual(expected);
    expect(previousResponseId).toBe(last);
    expect(queries).toBe(1);

    // Large content is loaded once there is room for it.
    const large = await keep({ input: 'x'.repeat(300_000), after: last! });
    queries = 0;
    const taken: number[] = [];
    const noting = Object.assign(new RequestRoom({} as BudgetedRequest), {
      take: (bytes: number) => void taken.push(bytes),
    });
    const loaded = await counting.load(TENANT, large, noting);
    expect(loaded.items).toHaveLength(102);
    expect([queries, taken]).toEqual([2, [loaded.contextBytes]]);
    queries = 0;
    const full = Object.assign(new RequestRoom({} as BudgetedRequest), {
      take() {
        throw new Error('no room');
      },
    });
    await expect(counting.load(TENANT, large, full)).rejects.toThrow('no room');
    expect(queries).toBe(1);
  });

  it('finds nothing of another tenant, not even in the middle of a conversation', async () => {
    const first = await keep();
    const second = await keep({ after: first });
    const otherTenant = randomUUID();
    await expect(conversations.load(otherTenant, second, room)).rejects.toMatchObject({
      status: 404,
    });
    expect(await repository.findResponse(otherTenant, second, 100)).toBeUndefined();
    expect(await repository.findInput(otherTenant, second, 100)).toBeUndefined();
    expect(await repository.delete(otherTenant, second)).toBe(false);
    await own.database.query('UPDATE stored_responses SET tenant_id = $1 WHERE id = $2', [
      otherTenant,
      first,
    ]);
    await expect(conversations.load(TENANT, second, room)).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('earlier turn'),
    });
  });

  it('continues neither a failed turn nor a conversation above 20 MB', async () => {
    const failed = await keep({ status: 'failed' });
    await expect(conversations.load(TENANT, failed, room)).rejects.toMatchObject({
      status: 400,
      param: 'previous_response_id',
    });
    const first = await keep();
    const second = await keep({ after: first, contextBytes: 20_000_000 });
    await expect(conversations.load(TENANT, second, room)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('20 MB'),
    });
    // Such a conversation is not even read.
    const rows = await repository.findConversation(TENANT, second, 20_000_000);
    expect(rows).toMatchObject([{ id: second, input_items: null, output_items: null }]);
  });

  it('stores a turn once', async () => {
    const id = await keep();
    const { rows } = await own.database.query<{ request_id: string }>(
      'SELECT request_id FROM stored_responses',
    );
    const again = storedResponseRecord({
      id,
      tenantId: TENANT,
      requestId: randomUUID(),
      createdAt: NOW,
      conversation: undefined,
      input: '"other"',
      ownItems: [],
      isStored: true,
      answer: { status: 'completed', model: 'a/b', response: '{}', output: '[]' },
    });
    await own.database.query(again.text, again.values);
    expect(await repository.findInput(TENANT, id, 100)).toMatchObject({ input_items: '"Hello"' });
    expect(rows).toHaveLength(1);
  });

  describe('swept', () => {
    const sweep = (responseRetentionDays: number): Promise<number> =>
      new ResponseRetentionService(repository, conversationsIn(own), {
        responseRetentionDays,
      }).sweepNow(NOW);

    it('also deletes unused conversations with their items', async () => {
      const conversationsOf = conversationsIn(own);
      const make = async (id: string, ageDays: number): Promise<void> => {
        const createdAt = new Date(NOW.getTime() - ageDays * DAY_MS);
        await conversationsOf.insert(TENANT, { id, metadata: '{}', createdAt }, [
          { id: `i ${id}` },
        ]);
        await own.database.query('UPDATE conversations SET used_at = created_at WHERE id = $1', [
          id,
        ]);
      };
      await make('conv_old', 31);
      await make('conv_young', 29);
      expect(await sweep(30)).toBe(1);
      const { rows } = await own.database.query('SELECT conversation_id FROM conversation_items');
      expect(rows).toEqual([{ conversation_id: 'conv_young' }]);
      expect(await conversationsOf.find(TENANT, 'conv_old')).toBeUndefined();
      expect(await conversationsOf.find(randomUUID(), 'conv_young')).toBeUndefined();
      await conversationsOf.delete(TENANT, 'conv_young');
    });

    it('deletes only turns older than the setting', async () => {
      await keep({ ageDays: 31 });
      await keep({ ageDays: 400 });
      const young = await keep({ ageDays: 29 });
      expect(await sweep(30)).toBe(2);
      expect(await ids()).toEqual([young]);
    });

    it('keeps old turns of an active conversation', async () => {
      const first = await keep({ ageDays: 90 });
      const second = await keep({ after: first, ageDays: 60 });
      const third = await keep({ after: second, ageDays: 2 });
      const left = await keep({ after: first, ageDays: 80 });
      expect(await sweep(30)).toBe(0);
      expect(await ids()).toEqual([first, second, third, left].sort());
      expect(await sweep(1)).toBe(4);
    });

    it('deletes nothing when the setting is 0', async () => {
      await keep({ ageDays: 10_000 });
      expect(await sweep(0)).toBe(0);
    });

    it('works in batches, and shares them with concurrent sweeps', async () => {
      await own.database.query(
        `INSERT INTO stored_responses
         SELECT 'resp_' || n, $1, gen_random_uuid(), 'resp_' || n, NULL, 'a/b', 'completed',
           '"x"', '[]', '{}', 5, '2020-01-01'::timestamptz + n * interval '1 microsecond'
         FROM generate_series(1, 4500) AS n`,
        [TENANT],
      );
      const living = await keep({ ageDays: 1 });
      const counts = await Promise.all([sweep(30), sweep(30), sweep(30)]);
      // A sweep skips rows that another one is processing, so another round may be due.
      const rest = await sweep(30);
      expect([...counts, rest].reduce((sum, count) => sum + count)).toBe(4500);
      expect(await ids()).toEqual([living]);
    });
  });

  describe(StoredContentLimit.name, () => {
    const limited = (bytes: number): StoredContentLimit =>
      new StoredContentLimit(own.database, new GatewayMetrics(), { storedContentMaxBytes: bytes });
    // Random, since PostgreSQL compresses repetitive text.
    const text = () => randomBytes(7_500).toString('base64');
    const OTHER = randomUUID();

    it('deletes the oldest rows of the largest tenant, and of no other', async () => {
      const conversation = { id: 'conv_old', metadata: '{}', createdAt: new Date('2020-01-01') };
      const stored = conversationsIn(own);
      await stored.insert(TENANT, conversation, [{ id: 'msg_1', text: text() }]);
      await own.database.query(`UPDATE conversations SET used_at = '2020-01-01'`);
      const many: string[] = [];
      for (let ageDays = 40; ageDays > 0; ageDays--) {
        many.push(await keep({ ageDays, input: text() }));
      }
      const others = [
        await keep({ ageDays: 99, input: text(), tenantId: OTHER }),
        await keep({ ageDays: 98, input: text(), tenantId: OTHER }),
      ];
      expect(await limited(10_000_000).sweepNow()).toBe(0);
      // About 10 KB each; 20 should remain. Two instances at once delete no more than one.
      const sweeps = await Promise.all([limited(215_000).sweepNow(), limited(215_000).sweepNow()]);
      const deleted = sweeps[0] + sweeps[1];
      expect(deleted).toBeGreaterThanOrEqual(20);
      expect(deleted).toBeLessThanOrEqual(26);
      // The conversation is the oldest of all.
      expect(await stored.find(TENANT, conversation.id)).toBeUndefined();
      expect(await ids()).toEqual([...others, ...many.slice(deleted - 1)].sort());
      expect(await limited(215_000).sweepNow()).toBe(0);
    });

    it('counts conversations without items, too', async () => {
      const stored = conversationsIn(own);
      await own.database.query('TRUNCATE conversations, conversation_items');
      for (let day = 1; day <= 20; day++) {
        const row = { id: `conv_${day}`, metadata: text(), createdAt: new Date(2020, 0, day) };
        await stored.insert(TENANT, row, []);
      }
      const deleted = await limited(110_000).sweepNow();
      expect(deleted).toBeGreaterThanOrEqual(9);
      expect(deleted).toBeLessThanOrEqual(12);
      expect(await stored.find(TENANT, 'conv_1')).toBeUndefined();
      expect(await stored.find(TENANT, 'conv_20')).toBeDefined();
      await own.database.query('TRUNCATE conversations');
    });

    it('alternates between tenants of the same size', async () => {
      for (let ageDays = 20; ageDays > 0; ageDays--) {
        await keep({ ageDays, input: text() });
        await keep({ ageDays, input: text(), tenantId: OTHER });
      }
      await limited(200_000).sweepNow();
      const { rows } = await own.database.query<{ count: number }>(
        'SELECT count(*) AS count FROM stored_responses GROUP BY tenant_id',
      );
      const [one, other] = rows.map(({ count }) => count);
      expect(Math.abs(one! - other!)).toBeLessThanOrEqual(2);
      expect(one! + other!).toBeGreaterThan(15);
      expect(one! + other!).toBeLessThan(21);
    });
  });
});
