import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { BudgetedRequest } from '../../src/platform/http/body-budget.js';
import type { JsonObject } from '../../src/platform/http/json-body.js';
import { RequestRoom } from '../../src/platform/http/request-room.js';
import {
  inputItemId,
  outputItemId,
  newResponseId,
  randomPartOf,
} from '../../src/features/responses/item-id.js';
import { ItemReferencesService } from '../../src/features/responses/item-references.service.js';
import { StoredResponsesRepository } from '../../src/features/responses/stored-responses.repository.js';
import { storedResponseRecord } from '../../src/features/responses/stored-turn.js';
import { conversationOf } from '../support/responses-requests.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const TENANT = randomUUID();
/** The room of a request without a memory budget. */
const room = new RequestRoom({} as BudgetedRequest);

describe('references to items of stored responses', () => {
  let own: TestDatabase;
  let repository: StoredResponsesRepository;
  let references: ItemReferencesService;
  let queries: number;

  beforeAll(async () => {
    own = await createTestDatabase();
    const query = own.database.query.bind(own.database);
    repository = new StoredResponsesRepository(
      Object.assign(Object.create(own.database) as typeof own.database, {
        query: (...args: Parameters<typeof query>) => {
          queries++;
          return query(...args);
        },
      }),
    );
    references = new ItemReferencesService(repository);
  });
  beforeEach(async () => {
    await own.database.query('TRUNCATE stored_responses');
    queries = 0;
  });
  afterAll(async () => {
    await own.drop();
  });

  interface KeptTurn {
    text?: string;
    status?: 'completed' | 'failed';
    tenantId?: string;
    createdAt?: Date;
    /** Id of the answer's item, if a vendor set one. */
    vendorItemId?: string;
  }

  /** Stores a turn whose answer is one message. */
  const keep = async (turn: KeptTurn = {}): Promise<{ responseId: string; item: JsonObject }> => {
    const { text = 'Hello', status = 'completed', tenantId = TENANT, vendorItemId } = turn;
    const responseId = newResponseId();
    const id = vendorItemId ?? outputItemId('msg', randomPartOf(responseId), 0);
    const content = [{ type: 'output_text', text }];
    const item = { id, type: 'message', role: 'assistant', content };
    const record = storedResponseRecord({
      id: responseId,
      tenantId,
      requestId: randomUUID(),
      createdAt: turn.createdAt ?? new Date(),
      conversation: undefined,
      input: '"Who are you?"',
      ownItems: [],
      isStored: true,
      answer: {
        status,
        model: 'a/b',
        response: '{}',
        output: JSON.stringify([item]),
        ...(vendorItemId !== undefined && { vendorItemIds: [vendorItemId] }),
      },
    });
    await own.database.query(record.text, record.values);
    return { responseId, item };
  };

  const reference = (id: unknown): JsonObject => ({ type: 'item_reference', id });

  it('are replaced by the items, in place, with one query for all', async () => {
    const made = await keep({ text: 'made here' });
    const relayed = await keep({ text: 'relayed', vendorItemId: 'msg_of-a.vendor' });
    const earlier = await keep({ text: 'of an earlier turn' });
    const question = { role: 'user', content: 'And now?' };
    const history = conversationOf(reference(earlier.item.id), question);
    const { conversation, ownItems } = await references.resolve(
      TENANT,
      [
        reference(made.item.id),
        question,
        { id: relayed.item.id },
        reference(inputItemId('msg', made.responseId, 0)),
        reference(made.item.id),
      ],
      history,
      room,
    );
    expect(conversation).toEqual({ ...history, items: [earlier.item, question] });
    expect(ownItems).toEqual([
      made.item,
      question,
      relayed.item,
      expect.objectContaining({
        role: 'user',
        content: [{ type: 'input_text', text: 'Who are you?' }],
      }),
      made.item,
    ]);
    expect(queries).toBe(1);
  });

  it('need no query when there are none', async () => {
    const items = [{ role: 'user', content: 'x' }];
    expect(await references.resolve(TENANT, items, undefined, room)).toEqual({ ownItems: items });
    expect((await references.resolve(TENANT, 'text', undefined, room)).ownItems).toHaveLength(1);
    expect(queries).toBe(0);
  });

  it('resolve to the newest item when a vendor used an id twice', async () => {
    await keep({ text: 'old', vendorItemId: 'msg_1', createdAt: new Date('2026-01-01') });
    const { item } = await keep({ text: 'new', vendorItemId: 'msg_1' });
    const { ownItems } = await references.resolve(TENANT, [reference('msg_1')], undefined, room);
    expect(ownItems).toEqual([item]);
  });

  it('do not resolve when the item is unknown, foreign, deleted, or from a failed answer', async () => {
    const foreign = await keep({ tenantId: randomUUID() });
    const foreignRelayed = await keep({ tenantId: randomUUID(), vendorItemId: 'msg_foreign' });
    const failed = await keep({ status: 'failed' });
    const deleted = await keep();
    const deletedRelayed = await keep({ vendorItemId: 'msg_deleted' });
    await repository.delete(TENANT, deleted.responseId);
    await repository.delete(TENANT, deletedRelayed.responseId);
    const { responseId } = await keep();
    const unknown = [
      ...[foreign, foreignRelayed, failed, deleted, deletedRelayed].map(({ item }) => item.id),
      outputItemId('msg', randomPartOf(responseId), 1),
      inputItemId('msg', responseId, 1),
      'msg_1',
      '',
      '\u0000',
      'x'.repeat(10_000),
    ];
    for (const id of unknown) {
      const input = [{ role: 'user', content: 'x' }, reference(id)];
      await expect(references.resolve(TENANT, input, undefined, room)).rejects.toMatchObject({
        status: 404,
        param: 'input.1.id',
      });
      const history = conversationOf(reference(id));
      await expect(references.resolve(TENANT, 'x', history, room)).rejects.toMatchObject({
        status: 404,
        param: 'previous_response_id',
      });
    }
  });

  it('are rejected without an id, and when they would load too much', async () => {
    await expect(
      references.resolve(TENANT, [{ type: 'item_reference' }], undefined, room),
    ).rejects.toMatchObject({ status: 400, param: 'input.0.id' });
    const large = await keep({ text: 'x'.repeat(11_000_000) });
    const once = [reference(large.item.id)];
    const full = Object.assign(new RequestRoom({} as BudgetedRequest), {
      take() {
        throw new Error('no room');
      },
    });
    await expect(references.resolve(TENANT, once, undefined, full)).rejects.toThrow('no room');
    expect((await references.resolve(TENANT, once, undefined, room)).ownItems).toEqual([
      large.item,
    ]);
    await expect(
      references.resolve(TENANT, [...once, ...once], undefined, room),
    ).rejects.toMatchObject({
      status: 400,
      param: 'input',
    });
    const other = await keep({ text: 'x'.repeat(11_000_000) });
    await expect(
      references.resolve(TENANT, [...once, reference(other.item.id)], undefined, room),
    ).rejects.toMatchObject({ status: 400, param: 'input' });
    const many = Array.from({ length: 10_001 }, (_, index) => reference(`msg_${index}`));
    await expect(references.resolve(TENANT, many, undefined, room)).rejects.toMatchObject({
      status: 400,
      param: 'input',
    });
  });
});
