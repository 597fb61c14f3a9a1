import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import type { WorkQueue } from '../../src/platform/queue/work-queue.js';
import { collectKeys } from './collect-keys.js';
import { openQueue, spawnConsumer, type QueueInstance, type QueuePlace } from './queue-instance.js';
import { until } from './until.js';

/** Where a queue is kept, for as long as its tests run. */
export interface QueueSetting {
  open(): Promise<QueuePlace>;
  close(): Promise<void>;
}

/** The tests that every work queue has to pass, wherever it is kept. */
export function keepsTheContract(kind: WorkQueue['kind'], setting: QueueSetting): void {
  let place: QueuePlace;
  let instances: QueueInstance[] = [];
  const open = async (): Promise<QueueInstance> => {
    const instance = await openQueue(place);
    instances.push(instance);
    return instance;
  };

  beforeAll(async () => {
    place = await setting.open();
  });
  afterEach(async () => {
    await Promise.all(instances.map((instance) => instance.close()));
    instances = [];
  });
  afterAll(() => setting.close());

  it('wakes a worker for a key within moments', async () => {
    const [{ queue: sender }, { queue: worker }] = [await open(), await open()];
    expect(sender.kind).toBe(kind);
    const delivered = await collectKeys(worker, 'jobs');
    await wait(300);
    const keys = ['a', 'b', 'c', 'd'];
    const latencies: number[] = [];
    for (const key of keys) {
      const startedAtMs = performance.now();
      await sender.wake('jobs', key);
      await until(() => delivered.includes(key));
      latencies.push(performance.now() - startedAtMs);
    }
    // The looks for what was not announced are a second apart, and only the first may come soon.
    expect(Math.min(...latencies.slice(1))).toBeLessThan(700);
    await wait(100);
    expect(delivered).toEqual(keys);
  });

  it('keeps wake-ups until somebody consumes, and topics apart', async () => {
    const { queue } = await open();
    await queue.wake('webhooks', 'kept');
    await queue.wake('webhooks', 'kept');
    const others = await collectKeys(queue, 'jobs');
    const delivered = await collectKeys(queue, 'webhooks');
    await until(() => delivered.length > 0);
    await wait(200);
    expect(delivered).toEqual(['kept']);
    expect(others).toEqual([]);
  });

  it('waits for a delay, and not much longer', async () => {
    const [{ queue: sender }, { queue: worker }] = [await open(), await open()];
    const delivered = await collectKeys(worker, 'jobs');
    const startedAtMs = performance.now();
    await sender.wake('jobs', 'later', { delayMs: 700 });
    await sender.wake('jobs', 'now');
    await until(() => delivered.includes('now'));
    await until(() => delivered.includes('later'));
    const tookMs = performance.now() - startedAtMs;
    expect(tookMs).toBeGreaterThanOrEqual(650);
    expect(delivered).toEqual(['now', 'later']);
    expect(tookMs).toBeLessThan(10_000);
  });

  it('does not put off what is due for what is delayed', async () => {
    const { queue } = await open();
    await queue.wake('jobs', 'same', { delayMs: 60_000 });
    await queue.wake('jobs', 'same');
    await queue.wake('jobs', 'same', { delayMs: 50_000 });
    const delivered = await collectKeys(queue, 'jobs');
    await until(() => delivered.includes('same'));
    expect((await queue.depths()).jobs.delayed).toBe(2);
  });

  it('works on no more keys at once than it is told to', async () => {
    const { queue } = await open();
    let running = 0;
    let most = 0;
    let done = 0;
    await queue.consume(
      'broadcast',
      async () => {
        most = Math.max(most, ++running);
        await wait(40);
        running--;
        done++;
      },
      { concurrency: 3 },
    );
    for (let index = 0; index < 12; index++) await queue.wake('broadcast', `key-${index}`);
    await until(() => done === 12);
    expect(most).toBe(3);
  });

  it('comes back to a key whose consumer throws, a little later', async () => {
    const { queue } = await open();
    const attemptsAtMs: number[] = [];
    await queue.consume(
      'jobs',
      () => {
        attemptsAtMs.push(performance.now());
        if (attemptsAtMs.length < 3) throw new Error('not yet');
        return Promise.resolve();
      },
      { concurrency: 1 },
    );
    await queue.wake('jobs', 'fails');
    await until(() => attemptsAtMs.length === 3);
    const [first = 0, second = 0, third = 0] = attemptsAtMs;
    expect(second - first).toBeGreaterThanOrEqual(900);
    expect(third - second).toBeGreaterThanOrEqual(1_900);
    await wait(200);
    expect(attemptsAtMs).toHaveLength(3);
    await until(async () => {
      const { waiting, active } = (await queue.depths()).jobs;
      return waiting + active === 0;
    });
  });

  it('wakes the worker of a key once more when it was woken meanwhile, on whatever instance', async () => {
    const [first, second] = [await open(), await open()];
    let begun = 0;
    let ended = 0;
    let release: () => void = () => undefined;
    const work = async (): Promise<void> => {
      if (++begun === 1) await new Promise<void>((resolve) => (release = resolve));
      ended++;
    };
    await first.queue.consume('jobs', work, { concurrency: 4 });
    await second.queue.consume('jobs', work, { concurrency: 4 });
    await first.queue.wake('jobs', 'twice');
    await until(() => begun === 1);
    await first.queue.wake('jobs', 'twice');
    await second.queue.wake('jobs', 'twice');
    await wait(500);
    expect([begun, ended]).toEqual([1, 0]);
    release();
    await until(() => ended === 2);
    await wait(800);
    expect(begun).toBe(2);
  });

  it('never loses a wake-up that comes while its key is being worked on', async () => {
    const { queue } = await open();
    let version = 0;
    let seen = 0;
    await queue.consume(
      'jobs',
      async () => {
        seen = version;
        await wait(version % 4);
      },
      { concurrency: 2 },
    );
    for (let index = 0; index < 60; index++) {
      version++;
      await queue.wake('jobs', 'row');
      await wait(index % 7);
    }
    await until(() => seen === version);
    for (let index = 0; index < 30; index++) {
      version++;
      await queue.wake('jobs', 'row');
      await until(() => seen === version);
    }
  });

  it('shares the work among instances, each wake-up for one of them', async () => {
    const [first, second] = [await open(), await open()];
    const keys = Array.from({ length: 60 }, (_, index) => `shared-${index}`);
    const shares: string[][] = [[], []];
    for (const [index, { queue }] of [first, second].entries()) {
      const work = async (key: string): Promise<void> => {
        // What another test has left behind may come again meanwhile.
        if (!keys.includes(key)) return;
        shares[index]!.push(key);
        // Whoever is busy leaves the rest to the other one.
        await until(() => shares.every((share) => share.length > 0));
      };
      await queue.consume('jobs', work, { concurrency: 2 });
    }
    await Promise.all(keys.map((key) => first.queue.wake('jobs', key)));
    await until(() => shares.flat().length >= keys.length);
    await wait(200);
    expect(shares.flat().sort()).toEqual([...keys].sort());
  });

  it('gives what a killed process worked on to another, within ten seconds', async () => {
    const { queue } = await open();
    const victim = await spawnConsumer(place, 'broadcast');
    try {
      await queue.wake('broadcast', 'orphan');
      await until(() => victim.keys().includes('orphan'));
      const delivered = await collectKeys(queue, 'broadcast');
      await wait(500);
      expect(delivered).toEqual([]);
      await victim.kill();
      await until(() => delivered.includes('orphan'), 25_000);
    } finally {
      await victim.kill();
    }
  });

  it('waits, when it stops, for the consumers that run, and takes nothing more', async () => {
    const { queue } = await open();
    const begun: string[] = [];
    let release: () => void = () => undefined;
    await queue.consume(
      'jobs',
      async (key) => {
        begun.push(key);
        await new Promise<void>((resolve) => (release = resolve));
      },
      { concurrency: 1 },
    );
    await queue.wake('jobs', 'running');
    await until(() => begun.length === 1);
    await queue.wake('jobs', 'left');
    let isStopped = false;
    const stopping = queue.stop(30_000).then(() => (isStopped = true));
    await wait(300);
    expect(isStopped).toBe(false);
    release();
    await stopping;
    // Others can still be woken.
    await queue.wake('jobs', 'for others');
    await wait(300);
    expect(begun).toEqual(['running']);

    const other = await open();
    const delivered = await collectKeys(other.queue, 'jobs');
    await until(() => delivered.length === 2);
    expect([...delivered].sort()).toEqual(['for others', 'left']);
  });

  it('stops after the limit though a consumer runs', async () => {
    const { queue } = await open();
    const begun: string[] = [];
    let finish: () => void = () => undefined;
    await queue.consume(
      'webhooks',
      (key) => {
        begun.push(key);
        return new Promise((resolve) => (finish = resolve));
      },
      { concurrency: 1 },
    );
    await queue.wake('webhooks', 'endless');
    await until(() => begun.length === 1);
    const startedAtMs = performance.now();
    await queue.stop(200);
    expect(performance.now() - startedAtMs).toBeLessThan(10_000);
    finish();
  });

  it('stops at once when it is idle', async () => {
    const instance = await open();
    for (const topic of ['jobs', 'webhooks', 'broadcast'] as const) {
      await collectKeys(instance.queue, topic, { concurrency: 8 });
    }
    await wait(500);
    const startedAtMs = performance.now();
    await instance.queue.stop(20_000);
    await instance.close();
    // Redis's own wait for work to come takes five seconds.
    expect(performance.now() - startedAtMs).toBeLessThan(4_500);
  });

  it('tells how much there is to do', async () => {
    const { queue, metrics } = await open();
    const before = (await queue.depths()).broadcast;
    await queue.wake('broadcast', 'x');
    await queue.wake('broadcast', 'y', { delayMs: 60_000 });
    const { broadcast } = await queue.depths();
    expect(broadcast.waiting - before.waiting).toBe(1);
    expect(broadcast.delayed - before.delayed).toBe(1);
    expect(await metrics.registry.metrics()).toContain(
      `gateway_queue_depth{topic="broadcast",state="delayed"} ${broadcast.delayed}`,
    );
    await collectKeys(queue, 'broadcast');
    await until(async () => (await queue.depths()).broadcast.waiting === 0);
  });
}
