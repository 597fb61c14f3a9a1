import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { WorkQueue } from '../queue/work-queue.js';
import type { Lease } from './lease.js';
import type { Claim, RunOutcome, WorkPolicy } from './work-handler.js';
import { WorkTopic } from './work-topic.js';

const POLICY: WorkPolicy = {
  topic: 'jobs',
  slots: { perGroup: 2, atOnce: Infinity, waiting: 10 },
  failurePauseMs: 750,
  stops: 'with-drain',
  isRepeatable: true,
};

/** A topic whose runs end when the test says so. Every row is due. */
function world({ policy = {}, hasMore = false }: { policy?: object; hasMore?: boolean } = {}) {
  const running = new Map<string, { lease: Lease; end: (outcome: RunOutcome) => void }>();
  const handler = {
    place: jest.fn((id: string) =>
      Promise.resolve({ group: 'one', owner: id[0]! } as { group: string } | undefined),
    ),
    claim: jest.fn((id: string): Promise<Claim | undefined> => Promise.resolve({ id })),
    renew: jest.fn(() => Promise.resolve(true)),
    run: jest.fn(
      ({ id }: Claim, lease: Lease) =>
        new Promise<RunOutcome>((end) => running.set(id, { lease, end })),
    ),
    release: jest.fn((_rows: readonly Claim[], _delayMs: number, _isTry: boolean) =>
      Promise.resolve(),
    ),
    leavesAtOnce: jest.fn((_row: Claim) => false),
    takeLost: jest.fn((_limit: number) => Promise.resolve<string[]>([])),
  };
  const findDue = jest.fn((_group: string, _limit: number) => Promise.resolve<string[]>([]));
  const wake = jest.fn((_topic: string, _id: string, _options: object) => Promise.resolve());
  const queue = { wake } as unknown as WorkQueue;
  const topic = new WorkTopic(
    'test',
    hasMore ? { ...handler, findDue } : handler,
    { ...POLICY, ...policy },
    queue,
  );
  const offer = async (...ids: string[]): Promise<void> => {
    for (const id of ids) void topic.offer(id);
    await settle();
  };
  return { topic, handler, findDue, wake, running, offer };
}

/** Runs pending work without advancing time. */
const settle = () => jest.advanceTimersByTimeAsync(0);

describe(WorkTopic.name, () => {
  beforeEach(() => {
    jest.useFakeTimers();
    for (const level of ['warn', 'error'] as const) {
      jest.spyOn(Logger.prototype, level).mockImplementation(() => undefined);
    }
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('ignores a row that is not due', async () => {
    const { handler, offer } = world();
    handler.place.mockResolvedValue(undefined);
    await offer('a');
    expect(handler.claim).not.toHaveBeenCalled();
  });

  it('limits runs per group and passes freed slots to the next owner', async () => {
    const { running, offer } = world();
    await offer('a1', 'a2', 'a3', 'b1');
    expect([...running.keys()]).toEqual(['a1', 'a2']);
    running.get('a1')!.end({});
    await settle();
    running.get('a2')!.end({});
    await settle();
    expect([...running.keys()]).toEqual(['a1', 'a2', 'a3', 'b1']);
  });

  it('frees the slot at once when another instance has the row', async () => {
    const { handler, running, offer } = world();
    handler.claim.mockResolvedValueOnce(undefined);
    await offer('a', 'b', 'c');
    expect([...running.keys()]).toEqual(['b', 'c']);
  });

  it('returns just after the row is due, without the queue', async () => {
    const { handler, wake, running, offer } = world();
    await offer('a');
    running.get('a')!.end({ afterMs: 2_000 });
    await jest.advanceTimersByTimeAsync(2_024);
    expect(handler.run).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(handler.run).toHaveBeenCalledTimes(2);
    expect(wake).not.toHaveBeenCalled();
  });

  it('returns rows of a group to their owners', async () => {
    const { running, offer } = world({ policy: { slots: { ...POLICY.slots, perGroup: 1 } } });
    await offer('a1');
    running.get('a1')!.end({ afterMs: 1_000, isSamePlace: true });
    await settle();
    await offer('c1', 'a2', 'a3');
    await jest.advanceTimersByTimeAsync(1_025);
    await offer('b1');
    for (const id of ['c1', 'a2', 'b1', 'a3']) {
      expect([...running.keys()].at(-1)).toBe(id);
      running.get(id)!.end({});
      await settle();
    }
  });

  it('releases the row of a run that throws, and returns after a pause', async () => {
    const { handler, offer } = world();
    handler.run.mockRejectedValueOnce(new Error('broken'));
    await offer('a');
    expect(handler.release.mock.calls).toEqual([[[{ id: 'a' }], 750, true]]);
    await jest.advanceTimersByTimeAsync(800);
    expect(handler.run).toHaveBeenCalledTimes(2);
  });

  it('stops a run that has lost its claim, and looks again', async () => {
    const { handler, running, offer } = world();
    await offer('a');
    handler.renew.mockResolvedValueOnce(false);
    await jest.advanceTimersByTimeAsync(4_000);
    const { lease, end } = running.get('a')!;
    expect(lease.signal.aborted).toBe(true);
    end({});
    await settle();
    expect(handler.place).toHaveBeenCalledTimes(2);
  });

  it('remembers rows that arrive while it looks for more', async () => {
    const { handler, findDue, running, offer } = world({
      hasMore: true,
      policy: { slots: { ...POLICY.slots, perGroup: 1, waiting: 1 } },
    });
    handler.place.mockResolvedValue({ group: 'one' });
    await offer('a', 'b', 'c');
    running.get('a')!.end({});
    await settle();
    let find: (due: string[]) => void = () => undefined;
    findDue.mockReturnValueOnce(new Promise((resolve) => (find = resolve)));
    running.get('b')!.end({});
    await settle();
    await offer('d', 'e');
    find([]);
    await settle();
    running.get('d')!.end({});
    await settle();
    expect(findDue).toHaveBeenCalledTimes(2);
  });

  it('tolerates outages of the queue and the database, since the sweep finds the row', async () => {
    const { topic, handler, wake, offer } = world();
    handler.place.mockRejectedValueOnce(new Error('away'));
    await offer('a');
    handler.takeLost.mockResolvedValue(['a']);
    await topic.sweep();
    expect(wake.mock.calls).toEqual([['jobs', 'a', {}]]);
  });

  it('works without the queue on rows that the sweep finds', async () => {
    const { topic, handler, wake, running } = world();
    handler.takeLost.mockResolvedValue(['a', 'b']);
    wake.mockRejectedValue(new Error('away'));
    await topic.sweep();
    await settle();
    expect([...running.keys()]).toEqual(['a', 'b']);
    expect(wake).toHaveBeenCalledTimes(1);
  });

  describe('when the service stops', () => {
    it('waits for runs, takes nothing new, and wakes others for what waits', async () => {
      const { topic, handler, wake, running, offer } = world();
      await offer('a', 'b', 'c');
      running.get('b')!.end({ afterMs: 60_000 });
      await settle();
      await offer('d');
      let isOver = false;
      void topic.drain(5_000).then(() => (isOver = true));
      await offer('e');
      expect(wake.mock.calls).toEqual([
        ['jobs', 'd', {}],
        ['jobs', 'b', { delayMs: 60_025 }],
        ['jobs', 'e', {}],
      ]);
      expect(handler.run).toHaveBeenCalledTimes(3);
      for (const { end } of running.values()) end({});
      await settle();
      expect(isOver).toBe(true);
    });

    it('releases repeatable runs at the limit, without counting the attempt', async () => {
      const { topic, handler, wake, running, offer } = world();
      await offer('a');
      const draining = topic.drain(5_000);
      await jest.advanceTimersByTimeAsync(4_900);
      expect(running.get('a')!.lease.signal.aborted).toBe(false);
      await jest.advanceTimersByTimeAsync(200);
      await draining;
      const stopping = topic.stop();
      await settle();
      await stopping;
      expect(running.get('a')!.lease.signal.aborted).toBe(true);
      expect(handler.release.mock.calls).toEqual([[[{ id: 'a' }], 0, false]]);
      expect(wake.mock.calls).toEqual([['jobs', 'a', {}]]);
    });

    it('hands over timers and waiting rows of a group once', async () => {
      const { topic, wake, running, offer } = world();
      await offer('a');
      running.get('a')!.end({ afterMs: 60_000, isSamePlace: true });
      await settle();
      await offer('b', 'c', 'd');
      void topic.drain(5_000);
      void topic.stop();
      await jest.advanceTimersByTimeAsync(5_000);
      expect(wake.mock.calls).toEqual([
        ['jobs', 'd', {}],
        ['jobs', 'a', { delayMs: 60_025 }],
        ['jobs', 'b', {}],
        ['jobs', 'c', {}],
      ]);
    });

    it('hands over a row that is being placed', async () => {
      const { topic, handler, wake, offer } = world();
      let place: (place: { group: string }) => void = () => undefined;
      handler.place.mockReturnValueOnce(new Promise((resolve) => (place = resolve)));
      await offer('a');
      void topic.drain(5_000);
      place({ group: 'one' });
      await settle();
      expect(wake.mock.calls).toEqual([['jobs', 'a', {}]]);
    });

    it('waits for a run whose row also waited in its former group', async () => {
      const { topic, handler, running, offer } = world({
        policy: { slots: { ...POLICY.slots, perGroup: 1 } },
      });
      await offer('b', 'a');
      handler.place.mockResolvedValue({ group: 'two' });
      await offer('a');
      handler.claim.mockResolvedValueOnce(undefined);
      running.get('b')!.end({});
      await settle();
      let isOver = false;
      void topic.drain(5_000).then(() => (isOver = true));
      await settle();
      expect(isOver).toBe(false);
      running.get('a')!.end({});
      await settle();
      expect(isOver).toBe(true);
    });

    it('leaves runs whose outcome is in doubt to their lease', async () => {
      const { topic, handler, wake, running, offer } = world({ policy: { isRepeatable: false } });
      await offer('a');
      const stopping = topic.stop();
      await settle();
      await stopping;
      expect(running.get('a')!.lease.leavingSignal.aborted).toBe(true);
      expect(handler.release).not.toHaveBeenCalled();
      expect(wake).not.toHaveBeenCalled();
    });

    it('abandons at once what another instance can continue', async () => {
      const { topic, handler, running, offer } = world();
      handler.leavesAtOnce.mockImplementation(({ id }) => id === 'a');
      await offer('a', 'b');
      void topic.drain(5_000);
      expect(running.get('a')!.lease.signal.aborted).toBe(true);
      expect(running.get('b')!.lease.signal.aborted).toBe(false);
    });

    it('releases a row that was claimed too late', async () => {
      const { topic, handler, wake, offer } = world();
      let claim: (row: Claim) => void = () => undefined;
      handler.claim.mockReturnValueOnce(new Promise((resolve) => (claim = resolve)));
      await offer('a');
      void topic.drain(5_000);
      claim({ id: 'a' });
      await settle();
      expect(handler.run).not.toHaveBeenCalled();
      expect(handler.release.mock.calls).toEqual([[[{ id: 'a' }], 0, false]]);
      expect(wake.mock.calls).toEqual([['jobs', 'a', {}]]);
    });
  });
});
