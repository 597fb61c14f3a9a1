import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../../test/support/until.js';
import { GroupCommit } from './group-commit.js';

/** Commits numbers in groups, one millisecond each; `broken` makes every commit fail. */
class Numbers {
  readonly queue: number[] = [];
  readonly groups: number[][] = [];
  readonly attemptsAtMs: number[] = [];
  broken = false;
  private underWay = 0;

  hasWork(): boolean {
    return this.queue.length > 0;
  }

  async commitNext(): Promise<boolean> {
    this.attemptsAtMs.push(performance.now());
    if (this.broken) return false;
    this.underWay += 1;
    expect(this.underWay).toBe(1);
    const group = this.queue.splice(0);
    await pause(1);
    this.groups.push(group);
    this.underWay -= 1;
    return true;
  }
}

describe(GroupCommit.name, () => {
  it('commits at once, then commits everything queued meanwhile together', async () => {
    const numbers = new Numbers();
    const commit = new GroupCommit(numbers);
    const add = (number: number) => {
      numbers.queue.push(number);
      commit.wake();
    };
    add(1);
    add(2);
    await new Promise(setImmediate);
    for (const number of [3, 4, 5]) add(number);
    await commit.whenIdle();
    expect(numbers.groups).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
  });

  it('is idle without work, before and after a commit', async () => {
    const numbers = new Numbers();
    const commit = new GroupCommit(numbers);
    await commit.whenIdle();
    numbers.queue.push(1);
    commit.wake();
    await commit.whenIdle();
    expect(numbers.groups).toEqual([[1]]);
    await commit.whenIdle();
    numbers.queue.push(2);
    commit.wake();
    await commit.whenIdle();
    expect(numbers.groups).toEqual([[1], [2]]);
  });

  it('retries with growing pauses, however often it is woken', async () => {
    const numbers = new Numbers();
    const commit = new GroupCommit(numbers);
    numbers.broken = true;
    numbers.queue.push(1);
    commit.wake();
    await until(() => numbers.attemptsAtMs.length > 2);
    commit.wake();
    numbers.broken = false;
    await commit.whenIdle();
    expect(numbers.groups).toEqual([[1]]);
    const pausesMs = numbers.attemptsAtMs
      .slice(1)
      .map((atMs, index) => atMs - numbers.attemptsAtMs[index]!);
    // 50, 100, 200: timers may fire late, but early only by their rounding.
    expect(pausesMs.length).toBeGreaterThanOrEqual(3);
    for (const [index, pauseMs] of pausesMs.entries()) {
      expect(pauseMs).toBeGreaterThanOrEqual(50 * 2 ** index - 2);
    }
  });

  it('drops its work when stopped', async () => {
    const numbers = new Numbers();
    const commit = new GroupCommit(numbers);
    numbers.broken = true;
    numbers.queue.push(1);
    commit.wake();
    commit.stop();
    await commit.whenIdle();
    numbers.broken = false;
    commit.wake();
    await commit.whenIdle();
    expect(numbers.groups).toEqual([]);
  });
});
