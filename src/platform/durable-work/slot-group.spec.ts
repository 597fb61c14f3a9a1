import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SlotGroup, type SlotLimits } from './work-slots.js';

describe(SlotGroup.name, () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const limits: SlotLimits = {
    perGroup: 4,
    atOnce: 256,
    bytes: Infinity,
    expectedBytes: 0,
    waiting: 100,
    failingRestMs: 1_000,
  };
  const groupOf = (...ids: string[]): SlotGroup => {
    const group = new SlotGroup('d', limits);
    ids.forEach((id) => group.add(id));
    return group;
  };
  const takeAll = (group: SlotGroup): string[] => {
    const taken: string[] = [];
    for (let id = group.take(); id !== undefined; id = group.take()) taken.push(id);
    return taken;
  };

  it('starts four at once, and the next when one ends', () => {
    const group = groupOf('a', 'b', 'c', 'd', 'e');
    expect(takeAll(group)).toEqual(['a', 'b', 'c', 'd']);
    group.finish('b', true);
    expect(takeAll(group)).toEqual(['e']);
  });

  it('takes a key once, however often it is woken', () => {
    const group = groupOf('a', 'a');
    expect(takeAll(group)).toEqual(['a']);
    group.add('a');
    expect(takeAll(group)).toEqual([]);
    group.finish('a', true);
    expect(group.isIdle).toBe(true);
  });

  it('goes one at a time with a cooldown after four failures in a row, and recovers on success', () => {
    const group = groupOf('a', 'b', 'c', 'd', 'e', 'f');
    const rests = takeAll(group).map((id) => group.finish(id, false));
    expect(rests).toEqual([undefined, undefined, undefined, 1_000]);
    jest.advanceTimersByTime(999);
    expect(takeAll(group)).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(takeAll(group)).toEqual(['e']);
    group.finish('e', true);
    group.add('g');
    expect(takeAll(group)).toEqual(['f', 'g']);
  });

  it('pauses only when configured, or when the group asks for it', () => {
    const group = new SlotGroup('d', { ...limits, failingRestMs: undefined });
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) group.add(id);
    const rests = takeAll(group).map((id) => group.finish(id, false));
    expect(rests).toEqual([undefined, undefined, undefined, undefined]);
    expect(takeAll(group)).toEqual(['e', 'f']);
    expect(group.finish('e', false, 50)).toBe(50);
  });

  it('queues a hundred keys per owner and reports when there may be more', () => {
    const group = groupOf(...Array.from({ length: 100 }, (_, index) => `id-${index}`));
    expect(group.mayHaveMore).toBe(false);
    group.add('one more');
    expect([group.mayHaveMore, group.waitingIds.length]).toEqual([true, 100]);
  });

  it('lets owners take turns', () => {
    const group = new SlotGroup('d', { ...limits, perGroup: 100 });
    for (const id of ['a1', 'a2', 'a3']) group.add(id, 'a');
    group.add('b1', 'b');
    expect(takeAll(group)).toEqual(['a1', 'b1', 'a2', 'a3']);
  });
});
