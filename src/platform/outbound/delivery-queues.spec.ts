import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  DeliveryQueues,
  type QueueRun,
  type RunOutcome,
  type ReceiverQueueLimits,
} from './delivery-queues.js';

const MAX_POSTS = 256;
const LIMITS: ReceiverQueueLimits = {
  perLane: 4,
  atOnce: MAX_POSTS,
  bytes: 64 * 1024 * 1024,
  expectedBytes: 960 * 1024,
  waiting: 100,
  failingRestMs: 1_000,
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Queues whose runs end when the test says so. */
function openLanes(bodyBytes?: number) {
  const running = new Map<string, { run: QueueRun; end: (outcome: RunOutcome) => void }>();
  const begun: string[] = [];
  const lanes = new DeliveryQueues(
    LIMITS,
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

describe(DeliveryQueues.name, () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  it('gives the next slot to a waiting receiver rather than the one that just ran', async () => {
    const { lanes, running, begun } = openLanes(1_000);
    const greedy = MAX_POSTS / 4;
    for (let lane = 0; lane < greedy; lane++) {
      for (let count = 0; count < 9; count++)
        void lanes.add(`hanging-${lane}`, `h-${lane}-${count}`);
    }
    expect(begun).toHaveLength(MAX_POSTS);
    void lanes.add('healthy', 'good');
    expect(running.has('good')).toBe(false);
    for (let ended = 0; ended <= greedy; ended++) {
      [...running.values()][0]!.end({ isGood: false });
      await turn();
    }
    expect(begun).toContain('good');
  });

  it('resolves when a delivery is made, or at once when it has to wait', async () => {
    const { lanes, running } = openLanes();
    const ended: string[] = [];
    const add = (id: string): void => void lanes.add('d', id).then(() => ended.push(id));
    for (const id of ['a', 'b', 'c', 'd', 'e', 'a']) add(id);
    await turn();
    expect(ended).toEqual(['e']);
    running.get('a')!.end({ isGood: true });
    await turn();
    expect(ended).toEqual(['e', 'a', 'a']);
    expect(running.has('e')).toBe(true);
  });

  it('holds at most 64 MB of bodies in memory', async () => {
    const { lanes, running, begun } = openLanes();
    const large = 4 * 1024 * 1024;
    for (let lane = 0; lane < 100; lane++) void lanes.add(`d-${lane}`, `id-${lane}`);
    // Until bodies are known, they count with their usual maximum.
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

  it('makes a postponed delivery when it is due and meanwhile skips it', async () => {
    const { lanes, running, begun } = openLanes();
    void lanes.add('d', 'a');
    const { run, end } = running.get('a')!;
    lanes.addLater(run.lane, 'a', 20);
    end({ isGood: false });
    void lanes.add('d', 'b');
    await turn();
    expect(begun).toEqual(['a', 'b']);
    await jest.advanceTimersByTimeAsync(19);
    expect(begun).toEqual(['a', 'b']);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun).toEqual(['a', 'b', 'a']);
  });

  it('pauses for as long as the receiver asks', async () => {
    const { lanes, running, begun } = openLanes();
    void lanes.add('d', 'a');
    running.get('a')!.end({ isGood: false, pauseMs: 50 });
    await turn();
    void lanes.add('d', 'b');
    await jest.advanceTimersByTimeAsync(49);
    expect(begun).toEqual(['a']);
    await jest.advanceTimersByTimeAsync(5);
    expect(begun).toEqual(['a', 'b']);
  });
});
