import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { draftSpans } from '../../core/tracing/draft-spans.js';
import type { DeliveryRepository } from './delivery.repository.js';
import { RenderedBatches } from './rendered-batches.service.js';
import { testTrace } from './test-trace.js';
import { toStored, TraceBatch } from './trace-batch.js';

const ALL = { includesContent: true };

describe(RenderedBatches.name, () => {
  let stored: Buffer;
  const readBody = jest.fn<(batchId: string) => Promise<Buffer>>();
  let batches: RenderedBatches;

  beforeEach(async () => {
    const batch = new TraceBatch(['d']);
    const drafts = draftSpans(testTrace('t'), { audience: 'tenant', includeContent: false });
    batch.add(JSON.stringify(drafts));
    stored = await toStored(batch.serialize());
    readBody.mockReset().mockImplementation(() => Promise.resolve(stored));
    batches = new RenderedBatches({ readBody } as unknown as DeliveryRepository);
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('renders a batch once for destinations that get it within seconds', async () => {
    const [one, other] = await Promise.all([batches.of('a', ALL), batches.of('a', ALL)]);
    expect(one).toBe(other);
    expect(one.toString()).toContain('gateway.broadcast.test');
    expect(readBody).toHaveBeenCalledTimes(1);
  });

  it('renders again for receivers without content', async () => {
    await batches.of('a', ALL);
    await batches.of('a', { includesContent: false });
    expect(readBody).toHaveBeenCalledTimes(2);
  });

  it('drops rendered batches after five seconds', async () => {
    await batches.of('a', ALL);
    jest.advanceTimersByTime(4_999);
    await batches.of('a', ALL);
    expect(readBody).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(1);
    await batches.of('a', ALL);
    expect(readBody).toHaveBeenCalledTimes(2);
  });

  it('keeps the eight latest batches', async () => {
    for (let index = 0; index < 9; index++) await batches.of(`${index}`, ALL);
    readBody.mockClear();
    for (let index = 8; index >= 1; index--) await batches.of(`${index}`, ALL);
    expect(readBody).not.toHaveBeenCalled();
    await batches.of('0', ALL);
    expect(readBody).toHaveBeenCalledTimes(1);
  });

  it('retries a failed read', async () => {
    readBody.mockRejectedValueOnce(new Error('away'));
    await expect(batches.of('a', ALL)).rejects.toThrow('away');
    expect((await batches.of('a', ALL)).length).toBeGreaterThan(0);
  });
});
