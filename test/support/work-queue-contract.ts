import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import type { WorkQueue } from '../../src/platform/queue/work-queue.js';
import { collectKeys } from './collect-keys.js';
import { openQueue, type QueueInstance, type QueuePlace } from './queue-instance.js';
import { until } from './until.js';

/** Where a queue is stored, for as long as its tests run. */
export interface QueueSetting {
  open(): Promise<QueuePlace>;
  close(): Promise<void>;
}

/** The tests that every work queue has to pass, wherever it is stored. */
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

  it('delivers a wake-up at once', async () => {
    const [{ queue: sender }, { queue: worker }] = [await open(), await open()];
    expect(sender.kind).toBe(kind);
    const { jobs: delivered } = await collectKeys(worker, 'jobs');
    await wait(300);
    const keys = ['a', 'b', 'c', 'd'];
    const latencies: number[] = [];
    for (const key of keys) {
      const startedAtMs = performance.now();
      await sender.wake('jobs', key);
      await until(() => delivered.includes(key));
      latencies.push(performance.now() - startedAtMs);
    }
    // Polls are two seconds apart, so only the first may come soon.
    expect(Math.min(...latencies.slice(1))).toBeLessThan(700);
    await wait(100);
    expect(delivered).toEqual(keys);
  });

  it('stores wake-ups until a process consumes them, and separates topics', async () => {
    const { queue } = await open();
    await queue.wake('webhooks', 'kept');
    const delivered = await collectKeys(queue, 'jobs', 'webhooks');
    await until(() => delivered.webhooks.length > 0);
    await wait(200);
    expect(delivered).toEqual({ jobs: [], webhooks: ['kept'] });
  });

  it('waits for a delay, and not much longer', async () => {
    const [{ queue: sender }, { queue: worker }] = [await open(), await open()];
    const { jobs: delivered } = await collectKeys(worker, 'jobs');
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

  it('does not postpone a due wake-up for a delayed one', async () => {
    const { queue } = await open();
    await queue.wake('jobs', 'same', { delayMs: 60_000 });
    await queue.wake('jobs', 'same');
    await queue.wake('jobs', 'same', { delayMs: 50_000 });
    const { jobs: delivered } = await collectKeys(queue, 'jobs');
    await until(() => delivered.includes('same'));
  });

  it('never loses a wake-up that comes while its key is looked up', async () => {
    const { queue } = await open();
    let version = 0;
    let seen = 0;
    const consumer = async (): Promise<void> => {
      seen = version;
      await wait(version % 4);
    };
    await queue.consume({ jobs: consumer });
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

  it('delivers each wake-up to one instance', async () => {
    const [first, second] = [await open(), await open()];
    const keys = Array.from({ length: 60 }, (_, index) => `shared-${index}`);
    const delivered: string[] = [];
    const consumer = (key: string): Promise<void> => {
      // Other tests may leave wake-ups behind.
      if (keys.includes(key)) delivered.push(key);
      return wait(5);
    };
    for (const { queue } of [first, second]) await queue.consume({ jobs: consumer });
    await Promise.all(keys.map((key) => first.queue.wake('jobs', key)));
    await until(() => delivered.length >= keys.length);
    await wait(200);
    expect(delivered.sort()).toEqual([...keys].sort());
  });

  it('takes nothing more once stopped, and still wakes others', async () => {
    const { queue } = await open();
    const { jobs: delivered } = await collectKeys(queue, 'jobs');
    await queue.wake('jobs', 'before');
    await until(() => delivered.includes('before'));
    await queue.stop();
    await queue.wake('jobs', 'for others');
    await wait(300);
    expect(delivered).not.toContain('for others');

    const other = await open();
    const { jobs: taken } = await collectKeys(other.queue, 'jobs');
    await until(() => taken.includes('for others'));
  });

  it('stops at once when it is idle', async () => {
    const instance = await open();
    await collectKeys(instance.queue, 'jobs', 'webhooks', 'broadcast');
    await wait(500);
    const startedAtMs = performance.now();
    await instance.queue.stop();
    await instance.close();
    // A blocking read of Redis takes five seconds.
    expect(performance.now() - startedAtMs).toBeLessThan(4_500);
  });
}
