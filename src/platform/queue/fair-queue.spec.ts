import { describe, expect, it } from '@jest/globals';
import { FairQueue } from './fair-queue.js';

function queueOf(...entries: [owner: string, item: string][]): FairQueue<string> {
  const queue = new FairQueue<string>(1_000);
  for (const [owner, item] of entries) queue.add(owner, item);
  return queue;
}

function takeAll(queue: FairQueue<string>): (string | undefined)[] {
  return Array.from({ length: queue.size }, () => queue.take());
}

describe(FairQueue.name, () => {
  it('alternates between owners and keeps the order of each', () => {
    const queue = queueOf(['a', 'a1'], ['a', 'a2'], ['a', 'a3'], ['b', 'b1'], ['c', 'c1']);
    queue.add('b', 'b2');
    expect(takeAll(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(queue.take()).toBeUndefined();
  });

  it('serves a single item after one item of an owner with a thousand', () => {
    const queue = new FairQueue<string>(1_000);
    for (let index = 0; index < 1_000; index++) queue.add('a', `a${index}`);
    expect(queue.take()).toBe('a0');
    queue.add('b', 'b0');
    expect([queue.take(), queue.take()]).toContain('b0');
  });

  it('gives no extra slot to an owner that leaves and returns', () => {
    const queue = queueOf(['a', 'a1'], ['b', 'b1'], ['b', 'b2']);
    expect(queue.take()).toBe('a1');
    queue.add('a', 'a2');
    expect(takeAll(queue)).toEqual(['b1', 'a2', 'b2']);
  });

  it('skips owners that may not run, which keep their position', () => {
    const queue = queueOf(['a', 'a1'], ['b', 'b1'], ['c', 'c1']);
    expect(queue.take((owner) => owner !== 'a')).toBe('b1');
    expect(queue.take(() => false)).toBeUndefined();
    expect(takeAll(queue)).toEqual(['a1', 'c1']);
  });

  it('hands out each item once and enforces the limit per owner', () => {
    const queue = new FairQueue<string>(2);
    expect([queue.add('a', 'x'), queue.add('a', 'x'), queue.size]).toEqual([true, true, 1]);
    expect([queue.add('a', 'y'), queue.add('a', 'z'), queue.add('a', 'x')]).toEqual([
      true,
      false,
      true,
    ]);
    expect(queue.add('b', 'z')).toBe(true);
  });

  it('forgets removed items', () => {
    const queue = queueOf(['a', 'a1'], ['a', 'a2'], ['b', 'b1']);
    expect(queue.of('a')).toEqual(['a1', 'a2']);
    expect([queue.remove('a', 'a1'), queue.remove('a', 'a1'), queue.remove('c', 'x')]).toEqual([
      true,
      false,
      false,
    ]);
    expect(takeAll(queue)).toEqual(['a2', 'b1']);
    expect(queue.of('a')).toEqual([]);
  });
});
