import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { WorkSlots, type SlotLimits, type SlotOutcome, type SlotRun } from './work-slots.js';

const MAX_RUNS = 256;
const LIMITS: SlotLimits = {
  perGroup: 4,
  atOnce: MAX_RUNS,
  bytes: 64 * 1024 * 1024,
  expectedBytes: 960 * 1024,
  waiting: 100,
  failingRestMs: 1_000,
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Slots whose runs end when the test says so. */
function openSlots(bodyBytes?: number) {
  const running = new Map<string, { run: SlotRun; end: (outcome: SlotOutcome) => void }>();
  const begun: string[] = [];
  const slots = new WorkSlots(
    LIMITS,
    (run) =>
      new Promise((resolve) => {
        begun.push(run.id);
        if (bodyBytes !== undefined) run.holds(bodyBytes);
        const end = (outcome: SlotOutcome): void => {
          running.delete(run.id);
          resolve(outcome);
        };
        running.set(run.id, { run, end });
      }),
  );
  return { slots, running, begun };
}

describe(WorkSlots.name, () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  it('gives the next slot to a waiting group rather than the one that just ran', async () => {
    const { slots, running, begun } = openSlots(1_000);
    const greedy = MAX_RUNS / 4;
    for (let group = 0; group < greedy; group++) {
      for (let count = 0; count < 9; count++)
        void slots.add(`h-${group}-${count}`, { group: `hanging-${group}` });
    }
    expect(begun).toHaveLength(MAX_RUNS);
    void slots.add('good', { group: 'healthy' });
    expect(running.has('good')).toBe(false);
    for (let ended = 0; ended <= greedy; ended++) {
      [...running.values()][0]!.end({ isGood: false });
      await turn();
    }
    expect(begun).toContain('good');
  });

  it('resolves when a key has run, or at once when it has to wait', async () => {
    const { slots, running } = openSlots();
    const ended: string[] = [];
    const add = (id: string): void => void slots.add(id, { group: 'd' }).then(() => ended.push(id));
    for (const id of ['a', 'b', 'c', 'd', 'e', 'a']) add(id);
    await turn();
    expect(ended).toEqual(['e']);
    running.get('a')!.end({ isGood: true });
    await turn();
    expect(ended).toEqual(['e', 'a', 'a']);
    expect(running.has('e')).toBe(true);
  });

  it('holds at most 64 MB of bodies in memory', async () => {
    const { slots, running, begun } = openSlots();
    const large = 4 * 1024 * 1024;
    for (let group = 0; group < 100; group++)
      void slots.add(`id-${group}`, { group: `d-${group}` });
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

  it('runs a postponed key when it is due and skips it until then', async () => {
    const { slots, running, begun } = openSlots();
    void slots.add('a', { group: 'd' });
    const { run, end } = running.get('a')!;
    slots.addLater(run.group, 'a', 20);
    end({ isGood: false });
    void slots.add('b', { group: 'd' });
    await turn();
    expect(begun).toEqual(['a', 'b']);
    await jest.advanceTimersByTimeAsync(19);
    expect(begun).toEqual(['a', 'b']);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun).toEqual(['a', 'b', 'a']);
  });

  it('pauses for as long as the group asks', async () => {
    const { slots, running, begun } = openSlots();
    void slots.add('a', { group: 'd' });
    running.get('a')!.end({ isGood: false, pauseMs: 50 });
    await turn();
    void slots.add('b', { group: 'd' });
    await jest.advanceTimersByTimeAsync(49);
    expect(begun).toEqual(['a']);
    await jest.advanceTimersByTimeAsync(5);
    expect(begun).toEqual(['a', 'b']);
  });
});
