import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { OutboundOutcome } from '../../platform/outbound/outbound-client.js';
import type { WorkQueue } from '../../platform/queue/work-queue.js';
import type { Claim, WorkHandler, WorkPolicy } from '../../platform/durable-work/work-handler.js';
import { WorkTopic } from '../../platform/durable-work/work-topic.js';
import type { ClaimedDelivery } from './delivery.repository.js';
import { DeliveryService } from './delivery.service.js';

type Parts = ConstructorParameters<typeof DeliveryService>;

const DELIVERED: OutboundOutcome = { ok: true, status: 200 };
const DELIVERY: ClaimedDelivery = {
  id: 'delivery',
  destinationId: 'destination',
  batchId: 'batch',
  url: 'https://collector.test/v1/traces',
  encryptedHeaders: Buffer.from('encrypted'),
  includesContent: true,
  isEnabled: true,
  isLive: true,
  traceCount: 3,
  attempts: 1,
  ageMs: 0,
};

function world({ pendingBytes = 1_000 } = {}) {
  const deliveries = {
    complete: jest.fn((_id: string, _rejected: number, _reason?: string) => Promise.resolve(true)),
    drop: jest.fn((_claim: object, _words: string) => Promise.resolve(true)),
    findOverdue: jest.fn((_overdueMs: number) => Promise.resolve([])),
    dropOldest: jest.fn((_maxBytes: number, _reason: string) =>
      Promise.resolve({ traces: 0, destinations: 0 }),
    ),
    removeSpentBatches: jest.fn(() => Promise.resolve()),
  };
  const queue = {
    wake: jest.fn((_topic: string, _id: string, _options: object) => Promise.resolve()),
  };
  const client = { post: jest.fn((_request: object) => Promise.resolve(DELIVERED)) };
  const headers = {
    decrypt: jest.fn((): Record<string, string> | undefined => ({ 'x-key': 'own' })),
  };
  const batches = { of: jest.fn(() => Promise.resolve(Buffer.from('body'))) };
  const metrics = { countAttempt: jest.fn(), countDelivered: jest.fn(), countDropped: jest.fn() };
  const config = { pendingTracesMaxBytes: pendingBytes };
  const engine = {
    register: (name: string, ...[handler, policy]: [WorkHandler<Claim>, WorkPolicy]) =>
      new WorkTopic(name, handler, policy, queue as unknown as WorkQueue),
  };
  const service = new DeliveryService(
    ...([deliveries, client, headers, batches, metrics, config, engine] as unknown as Parts),
  );
  return { service, deliveries, queue, client, headers, batches, metrics };
}

describe(DeliveryService.name, () => {
  beforeEach(() => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it("posts the batch with the tenant's headers and the delivery's id, and reports its size", async () => {
    const { service, client, metrics } = world();
    const holds = jest.fn();
    expect(await service.post(DELIVERY, holds)).toBe(DELIVERED);
    expect(client.post.mock.calls[0]![0]).toMatchObject({
      url: DELIVERY.url,
      headers: { 'x-key': 'own', 'idempotency-key': 'delivery' },
      body: Buffer.from('body'),
      readsAnswer: true,
    });
    expect(holds).toHaveBeenCalledWith(4);
    expect(metrics.countAttempt).toHaveBeenCalledWith('delivered');
  });

  it('sends nothing when headers cannot be decrypted, and does not retry', async () => {
    const { service, client, headers, metrics } = world();
    headers.decrypt.mockReturnValue(undefined);
    const outcome = await service.post(DELIVERY, jest.fn());
    expect(outcome).toMatchObject({ ok: false, retryable: false });
    expect(client.post).not.toHaveBeenCalled();
    expect(metrics.countAttempt).toHaveBeenCalledWith('failed');
  });

  it.each([
    ['is disabled', { isEnabled: false }, 'disabled'],
    ['was disabled, and is old', { isEnabled: false, ageMs: 3_600_001 }, 'disabled'],
    ['waited for an hour', { ageMs: 3_600_001 }, 'expired'],
    ['waited for less', { ageMs: 3_600_000 }, undefined],
  ])('drops or keeps a delivery that %s', (_, fields, reason) => {
    expect(world().service.findDrop({ ...DELIVERY, ...fields })?.reason).toBe(reason);
  });

  describe('after an accepted delivery', () => {
    const partial = (spans: number): string =>
      JSON.stringify({ partialSuccess: { rejectedSpans: spans, errorMessage: 'too old' } });

    it('counts all traces as delivered', async () => {
      const { service, deliveries, metrics } = world();
      await service.complete(DELIVERY, '{}');
      expect(deliveries.complete.mock.calls).toEqual([['delivery', 0, undefined]]);
      expect(metrics.countDelivered).toHaveBeenCalledWith(3);
      expect(metrics.countDropped).not.toHaveBeenCalled();
    });

    it.each([
      [2, 2, 1],
      [100, 3, 0],
    ])('with %d rejected spans, counts %d traces as lost', async (spans, lost, delivered) => {
      const { service, deliveries, metrics } = world();
      await service.complete(DELIVERY, partial(spans));
      expect(deliveries.complete.mock.calls[0]!.slice(0, 2)).toEqual(['delivery', lost]);
      expect(deliveries.complete.mock.calls[0]![2]).toContain('too old');
      expect(metrics.countDelivered).toHaveBeenCalledWith(delivered);
      expect(metrics.countDropped).toHaveBeenCalledWith('rejected', lost);
    });

    it('does not count deliveries that another instance ended', async () => {
      const { service, deliveries, metrics } = world();
      deliveries.complete.mockResolvedValue(false);
      deliveries.drop.mockResolvedValue(false);
      await service.complete(DELIVERY, partial(2));
      await service.drop(DELIVERY, { reason: 'expired', words: 'late' });
      expect(metrics.countDelivered).not.toHaveBeenCalled();
      expect(metrics.countDropped).not.toHaveBeenCalled();
    });
  });

  it('reports the number of traces in a dropped delivery', async () => {
    const { service, deliveries, metrics } = world();
    await service.drop(DELIVERY, { reason: 'refused', words: 'answered 401' });
    expect(deliveries.drop).toHaveBeenCalledWith(DELIVERY, 'answered 401');
    expect(metrics.countDropped).toHaveBeenCalledWith('refused', 3);
  });

  it('wakes a worker unless enough due work keeps one busy', () => {
    const { service, queue } = world();
    const written = { id: 'delivery', destinationId: 'destination', isWritten: true };
    for (const dueBefore of [0, 3, 4, 100]) service.deliver({ ...written, dueBefore });
    expect(queue.wake.mock.calls).toEqual(Array(2).fill(['broadcast', 'delivery', {}]));
  });

  it('leaves a delivery to the sweep when no worker can be woken', async () => {
    const { service, queue } = world();
    queue.wake.mockRejectedValue(new Error('away'));
    service.deliver({
      id: 'delivery',
      destinationId: 'destination',
      isWritten: true,
      dueBefore: 0,
    });
    await new Promise(setImmediate);
    expect(Logger.prototype.warn).toHaveBeenCalledWith(expect.stringContaining('away'));
  });

  it('bounds the queue during the sweep and logs dropped traces', async () => {
    const { service, deliveries, metrics } = world();
    deliveries.dropOldest.mockResolvedValue({ traces: 7, destinations: 2 });
    await service.tidy();
    expect(deliveries.dropOldest).toHaveBeenCalledWith(1_000, expect.any(String));
    expect(metrics.countDropped).toHaveBeenCalledWith('crowded', 7);
    expect(Logger.prototype.warn).toHaveBeenCalledWith(expect.stringContaining('7 traces for 2'));
  });
});
