import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { BroadcastMetrics } from './broadcast-metrics.js';
import type { DeliveryRepository } from './delivery.repository.js';
import { LostTraces } from './lost-traces.service.js';

describe(LostTraces.name, () => {
  const countDropped = jest.fn<DeliveryRepository['countDropped']>();
  const counted = jest.fn<BroadcastMetrics['countDropped']>();
  let lost: LostTraces;

  beforeEach(() => {
    jest.useFakeTimers();
    countDropped.mockReset().mockResolvedValue(undefined);
    counted.mockReset();
    lost = new LostTraces(
      { countDropped } as unknown as DeliveryRepository,
      { countDropped: counted } as unknown as BroadcastMetrics,
    );
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Destination, traces and error text of each write. */
  const written = () => countDropped.mock.calls.map(([id, traces, words]) => [id, traces, words]);

  it('writes losses after one second, summed by destination and reason', async () => {
    lost.count('a', 2, 'storage');
    lost.count('a', 3, 'storage');
    lost.count('a', 1, 'faulty');
    lost.count('b', 4, 'storage');
    await jest.advanceTimersByTimeAsync(999);
    expect(countDropped).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(written()).toEqual([
      ['a', 5, 'the gateway could not store the traces'],
      ['a', 1, 'the gateway could not build a trace'],
      ['b', 4, 'the gateway could not store the traces'],
    ]);
  });

  it('counts each loss in the metrics immediately and once', async () => {
    lost.count('a', 2, 'storage');
    countDropped.mockRejectedValueOnce(new Error('away'));
    await jest.advanceTimersByTimeAsync(5_000);
    expect(counted.mock.calls).toEqual([['storage', 2]]);
  });

  it('keeps losses that it cannot write and adds to them', async () => {
    countDropped.mockRejectedValueOnce(new Error('away'));
    lost.count('a', 2, 'buffer_full');
    await jest.advanceTimersByTimeAsync(1_000);
    lost.count('a', 3, 'buffer_full');
    await jest.advanceTimersByTimeAsync(1_000);
    expect(written()).toEqual([
      ['a', 2, 'the gateway had no room for more traces'],
      ['a', 5, 'the gateway had no room for more traces'],
    ]);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(countDropped).toHaveBeenCalledTimes(2);
  });

  it("keeps the destination's last error only when its queue was full", async () => {
    lost.count('a', 1, 'queue_full');
    lost.count('b', 1, 'undecided');
    await lost.write();
    expect(countDropped.mock.calls.map((call) => call[3])).toEqual([
      { keepsLastError: true },
      { keepsLastError: false },
    ]);
  });

  it('schedules nothing once everything is written', async () => {
    lost.count('a', 1, 'storage');
    await lost.write();
    expect(jest.getTimerCount()).toBe(0);
    await lost.write();
    expect(countDropped).toHaveBeenCalledTimes(1);
  });
});
