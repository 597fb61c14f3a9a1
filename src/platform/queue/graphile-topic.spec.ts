import { describe, expect, it, jest } from '@jest/globals';

/** Worker pools that never report their end. */
interface Pool {
  id: string;
  _shuttingDown: boolean;
  _workers: object[];
  promise: Promise<void>;
}
const pools: Pool[] = [];
jest.unstable_mockModule('graphile-worker', () => ({
  runTaskList: ({ concurrency }: { concurrency: number }) => {
    const pool = {
      id: `pool-${pools.length}`,
      _shuttingDown: false,
      _workers: Array.from({ length: concurrency }, () => ({})),
      nudge: jest.fn(),
      promise: new Promise<void>(() => undefined),
      gracefulShutdown: () => {
        pool._shuttingDown = true;
        setTimeout(() => (pool._workers = []), 300);
      },
    };
    pools.push(pool);
    return pool;
  },
}));
const { GraphileTopic } = await import('./graphile-topic.js');
type Options = ConstructorParameters<typeof GraphileTopic>[0];

describe('workers that never report their end', () => {
  const presence = {
    take: () => Promise.resolve(true),
    release: jest.fn((_name: string) => Promise.resolve()),
  };
  const topic = new GraphileTopic({
    topic: 'jobs',
    concurrency: 200,
    presence,
  } as unknown as Options);

  it('are not awaited once none of them is busy', async () => {
    topic.nudge();
    const startedMs = performance.now();
    await topic.stop();
    expect(pools[0]!._workers).toEqual([]);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });

  it('are forgotten once replaced', async () => {
    const other = new GraphileTopic({
      topic: 'jobs',
      concurrency: 200,
      presence,
    } as unknown as Options);
    other.nudge();
    const first = pools.at(-1)!;
    Object.assign(first, { _shuttingDown: true, _workers: [] });
    const limitMs = performance.now() + 10_000;
    while (presence.release.mock.calls.length === 0 && performance.now() < limitMs) {
      other.ensureRunning();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    // Their rows go to other workers.
    expect(presence.release).toHaveBeenCalledWith(first.id);
    expect(other.workerNames).toEqual([pools.at(-1)!.id]);
    await other.stop();
  });
});
