import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ReceiverQueue, type ReceiverQueueLimits } from './delivery-queues.js';

describe(ReceiverQueue.name, () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const limits: ReceiverQueueLimits = {
    perLane: 4,
    atOnce: 256,
    bytes: Infinity,
    expectedBytes: 0,
    waiting: 100,
    failingRestMs: 1_000,
  };
  const laneOf = (...ids: string[]): ReceiverQueue => {
    const lane = new ReceiverQueue('d', limits);
    ids.forEach((id) => lane.add(id));
    return lane;
  };
  const takeAll = (lane: ReceiverQueue): string[] => {
    const taken: string[] = [];
    for (let id = lane.take(); id !== undefined; id = lane.take()) taken.push(id);
    return taken;
  };

  it('starts four at once, and the next when one ends', () => {
    const lane = laneOf('a', 'b', 'c', 'd', 'e');
    expect(takeAll(lane)).toEqual(['a', 'b', 'c', 'd']);
    lane.finish('b', true);
    expect(takeAll(lane)).toEqual(['e']);
  });

  it('takes a delivery once, however often it is woken', () => {
    const lane = laneOf('a', 'a');
    expect(takeAll(lane)).toEqual(['a']);
    lane.add('a');
    expect(takeAll(lane)).toEqual([]);
    lane.finish('a', true);
    expect(lane.isIdle).toBe(true);
  });

  it('goes one at a time with a cooldown after four failures in a row, and recovers on success', () => {
    const lane = laneOf('a', 'b', 'c', 'd', 'e', 'f');
    const rests = takeAll(lane).map((id) => lane.finish(id, false));
    expect(rests).toEqual([undefined, undefined, undefined, 1_000]);
    jest.advanceTimersByTime(999);
    expect(takeAll(lane)).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(takeAll(lane)).toEqual(['e']);
    lane.finish('e', true);
    lane.add('g');
    expect(takeAll(lane)).toEqual(['f', 'g']);
  });

  it('pauses for a receiver only when configured, or when the receiver asks for it', () => {
    const lane = new ReceiverQueue('d', { ...limits, failingRestMs: undefined });
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) lane.add(id);
    const rests = takeAll(lane).map((id) => lane.finish(id, false));
    expect(rests).toEqual([undefined, undefined, undefined, undefined]);
    expect(takeAll(lane)).toEqual(['e', 'f']);
    expect(lane.finish('e', false, 50)).toBe(50);
  });

  it('holds a hundred deliveries and reports when there may be more', () => {
    const lane = laneOf(...Array.from({ length: 100 }, (_, index) => `id-${index}`));
    expect(lane.mayHaveMore).toBe(false);
    lane.add('one more');
    expect([lane.mayHaveMore, lane.waitingIds.length]).toEqual([true, 100]);
  });
});
