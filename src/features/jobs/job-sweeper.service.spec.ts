import { describe, expect, it, jest } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../../../test/support/until.js';
import { JobSweeper } from './job-sweeper.service.js';

type Parts = ConstructorParameters<typeof JobSweeper>;

describe(JobSweeper.name, () => {
  it('stops a long sweep on shutdown', async () => {
    const lost = Array.from({ length: 1_000 }, (_, index) => ({ id: `job-${index}` }));
    const query = jest.fn((sql: string) =>
      Promise.resolve({
        rows: sql.includes('SET run_at') ? lost : [{ lost: true, removable: true }],
      }),
    );
    const wake = jest.fn(() => wait(1));
    const queue = { wake, depths: () => Promise.resolve({ jobs: { waiting: 0 } }) };
    const sweepArtifacts = jest.fn(() => Promise.resolve(1));
    const unused = {};
    const sweeper = new JobSweeper(
      ...([
        { query },
        unused,
        queue,
        unused,
        unused,
        { sweep: jest.fn() },
        { sweep: sweepArtifacts },
        unused,
        unused,
        unused,
      ] as unknown as Parts),
    );
    const sweep = sweeper.sweepNow();
    await until(() => wake.mock.calls.length >= 5);
    await sweeper.beforeApplicationShutdown();
    await sweep;
    expect(wake.mock.calls.length).toBeLessThan(1_000);
    expect(sweepArtifacts).not.toHaveBeenCalled();
  });
});
