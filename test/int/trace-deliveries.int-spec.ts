import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import {
  DeliveryRepository,
  type BatchDraft,
} from '../../src/features/broadcast/delivery.repository.js';
import { openAccessServices, type AccessServices } from '../support/access-services.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe(DeliveryRepository.name, () => {
  let database: TestDatabase;
  let access: AccessServices;
  let deliveries: DeliveryRepository;
  let tenantId: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    access = await openAccessServices(database.url);
    deliveries = new DeliveryRepository(database.database);
    tenantId = await access.makeTenant('traced');
  });
  afterAll(async () => {
    await access.close();
    await database.drop();
  });

  const makeDestination = async (): Promise<string> => {
    const id = randomUUID();
    await database.database.query(
      `INSERT INTO broadcast_destinations
         (id, tenant_id, is_enabled, url, sealed_headers, sampling_rate, includes_content)
       VALUES ($1, $2, true, 'http://a.example', '', 1, false)`,
      [id, tenantId],
    );
    return id;
  };
  const draftFor = (body: string, ...destinationIds: string[]): BatchDraft => ({
    id: randomUUID(),
    body: Buffer.from(body),
    traceCount: 3,
    recipients: destinationIds.map((destinationId) => ({ id: randomUUID(), destinationId })),
  });
  const stateOf = async (id: string) => {
    const { rows } = await database.database.query<Record<string, unknown>>(
      `SELECT delivered_count AS delivered, dropped_count AS dropped, last_error AS "lastError",
         (SELECT count(*) FROM broadcast_deliveries WHERE destination_id = $1) AS pending
       FROM broadcast_destinations WHERE id = $1`,
      [id],
    );
    return rows[0];
  };

  it('writes several batches at once, each with its own body', async () => {
    const [one, other] = [await makeDestination(), await makeDestination()];
    const drafts = [
      draftFor('first', one),
      draftFor('the second', one, other),
      draftFor('3', other),
    ];
    const written = await deliveries.insert(drafts);
    expect(written).toHaveLength(4);
    expect(written.every(({ isWritten }) => isWritten)).toBe(true);
    for (const { id, body } of drafts) expect(await deliveries.readBody(id)).toEqual(body);
    expect([await stateOf(one), await stateOf(other)]).toMatchObject([
      { pending: 2 },
      { pending: 2 },
    ]);
  });

  it('ignores a deleted destination', async () => {
    const id = await makeDestination();
    const draft = draftFor('x', id, randomUUID());
    expect(await deliveries.insert([draft])).toMatchObject([{ destinationId: id }]);
  });

  it('writes a batch once, however often it is called, even after its delivery', async () => {
    const id = await makeDestination();
    const draft = draftFor('x', id);
    for (let count = 0; count < 2; count++) {
      expect(await deliveries.insert([draft])).toMatchObject([{ isWritten: true }]);
    }
    expect(await stateOf(id)).toMatchObject({ pending: 1 });
    const deliveryId = draft.recipients[0]!.id;
    expect(await deliveries.claim(deliveryId)).toMatchObject({ traceCount: 3, attempts: 1 });
    expect(await deliveries.complete(deliveryId)).toBe(true);
    await deliveries.removeSpentBatches();
    await deliveries.insert([draft]);
    expect(await stateOf(id)).toMatchObject({ pending: 0, delivered: 3, dropped: 0 });
  });

  it('skips a full destination and keeps its last error', async () => {
    const [full, free] = [await makeDestination(), await makeDestination()];
    const many = Array.from({ length: 1_000 }, () => full);
    await deliveries.insert([draftFor('x', ...many)]);
    const refused = await deliveries.insert([draftFor('y', full, free)]);
    const outcomes = new Map(refused.map((each) => [each.destinationId, each.isWritten]));
    expect([outcomes.get(full), outcomes.get(free)]).toEqual([false, true]);
    await deliveries.countDropped(full, 3, 'an older reason', { keepsLastError: false });
    await deliveries.countDropped(full, 3, 'no room', { keepsLastError: true });
    await deliveries.countDropped(free, 3, 'no room', { keepsLastError: true });
    expect([await stateOf(full), await stateOf(free)]).toMatchObject([
      { dropped: 6, lastError: 'an older reason' },
      { dropped: 3, lastError: 'no room' },
    ]);
  });

  it('drops the oldest batches when all together exceed the limit, and leaves the rest', async () => {
    await database.database.query('DELETE FROM broadcast_deliveries');
    const [failing, healthy] = [await makeDestination(), await makeDestination()];
    const kilobyte = 'x'.repeat(1_000);
    const drafts = Array.from({ length: 200 }, () => draftFor(kilobyte, failing));
    await deliveries.insert(drafts);
    await database.database.query(
      `UPDATE broadcast_batches SET created_at = now() - interval '10 minutes'`,
    );
    const young = draftFor(kilobyte, failing, healthy);
    await deliveries.insert([young]);
    const none = await deliveries.dropOldest(1_000_000_000, 'no room');
    expect(none).toEqual({ traces: 0, destinations: 0 });
    // Two instances at once drop each batch once.
    const dropped = await Promise.all([
      deliveries.dropOldest(50_000, 'no room'),
      deliveries.dropOldest(50_000, 'no room'),
    ]);
    expect(dropped.reduce((sum, { traces }) => sum + traces, 0)).toBe(151 * 3);
    expect([await stateOf(failing), await stateOf(healthy)]).toMatchObject([
      { pending: 50, dropped: 151 * 3, lastError: 'no room' },
      { pending: 1, dropped: 0, lastError: null },
    ]);
    await deliveries.removeSpentBatches();
    expect(await deliveries.readBody(young.id)).toEqual(young.body);
    const { rows } = await database.database.query<{ left: number }>(
      'SELECT count(*) AS left FROM broadcast_batches WHERE id = ANY($1)',
      [drafts.map(({ id }) => id)],
    );
    expect(rows[0]!.left).toBe(49);
  });
});
