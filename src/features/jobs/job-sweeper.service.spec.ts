import { describe, expect, it, jest } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../../../test/support/until.js';
import { JobSweeper } from './job-sweeper.service.js';

type Parts = ConstructorParameters<typeof JobSweeper>;

describe(JobSweeper.name, () => {
  it('stops a long sweep on shutdown', async () => {
    const unfinished = Array.from({ length: 1_000 }, (_, index) => ({ id: `job-${index}` }));
    const query = jest.fn((sql: string) =>
      Promise.resolve({
        rows: sql.includes('EXISTS') ? [{ unfinished: true, removable: true }] : unfinished,
      }),
    );
    const run = jest.fn(() => wait(1));
    const sweepArtifacts = jest.fn(() => Promise.resolve(1));
    const unused = {};
    const sweeper = new JobSweeper(
      ...([
        { query },
        unused,
        unused,
        { run },
        { sweep: jest.fn() },
        { sweep: sweepArtifacts },
        unused,
      ] as unknown as Parts),
    );
    const sweep = sweeper.sweepNow();
    await until(() => run.mock.calls.length >= 5);
    await sweeper.beforeApplicationShutdown();
    await sweep;
    expect(run.mock.calls.length).toBeLessThan(1_000);
    expect(sweepArtifacts).not.toHaveBeenCalled();
  });
});
