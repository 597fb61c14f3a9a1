import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { MAX_POSTS } from './broadcast-limits.js';
import { DeliveryLanes, type LaneRun, type RunOutcome } from './delivery-lanes.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lanes whose runs end when the test says so. */
function openLanes(bodyBytes?: number) {
  const running = new Map<string, { run: LaneRun; end: (outcome: RunOutcome) => void }>();
  const begun: string[] = [];
  const lanes = new DeliveryLanes(
    (run) =>
      new Promise((resolve) => {
        begun.push(run.id);
        if (bodyBytes !== undefined) run.holds(bodyBytes);
        const end = (outcome: RunOutcome): void => {
          running.delete(run.id);
          resolve(outcome);
        };
        running.set(run.id, { run, end });
      }),
  );
  return { lanes, running, begun };
}

describe(DeliveryLanes.name, () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  it('gives the next place to whoever waits for one, not to whom has just had one', async () => {
    const { lanes, running, begun } = openLanes(1_000);
    const greedy = MAX_POSTS / 4;
    for (let lane = 0; lane < greedy; lane++) {
      for (let count = 0; count < 9; count++) lanes.add(`hanging-${lane}`, `h-${lane}-${count}`);
    }
    expect(begun).toHaveLength(MAX_POSTS);
    lanes.add('healthy', 'good');
    expect(running.has('good')).toBe(false);
    for (let ended = 0; ended <= greedy; ended++) {
      [...running.values()][0]!.end({ isGood: false });
      await turn();
    }
    expect(begun).toContain('good');
  });

  it('has no more bodies in memory than 64 MB', async () => {
    const { lanes, running, begun } = openLanes();
    const large = 4 * 1024 * 1024;
    for (let lane = 0; lane < 100; lane++) lanes.add(`d-${lane}`, `id-${lane}`);
    // Until they are there, bodies are taken to be as large as they usually can be.
    expect(begun.length).toBeLessThan(70);
    for (const { run } of running.values()) run.holds(large);
    const before = begun.length;
    [...running.values()][0]!.end({ isGood: true });
    await turn();
    expect(begun).toHaveLength(before);
    while (running.size > 0) {
      for (const { end } of [...running.values()]) end({ isGood: true });
      await turn();
    }
    expect(begun).toHaveLength(100);
  });

  it('makes one that is put off when it is due, and leaves those behind it alone meanwhile', async () => {
    const { lanes, running, begun } = openLanes();
    lanes.add('d', 'a');
    const { run, end } = running.get('a')!;
    lanes.addLater(run.lane, 'a', 20);
    end({ isGood: false });
    lanes.add('d', 'b');
    await turn();
    expect(begun).toEqual(['a', 'b']);
    await jest.advanceTimersByTimeAsync(19);
    expect(begun).toEqual(['a', 'b']);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun).toEqual(['a', 'b', 'a']);
  });

  it('leaves a receiver alone for as long as it asks', async () => {
    const { lanes, running, begun } = openLanes();
    lanes.add('d', 'a');
    running.get('a')!.end({ isGood: false, pauseMs: 50 });
    await turn();
    lanes.add('d', 'b');
    await jest.advanceTimersByTimeAsync(49);
    expect(begun).toEqual(['a']);
    await jest.advanceTimersByTimeAsync(5);
    expect(begun).toEqual(['a', 'b']);
  });
});
