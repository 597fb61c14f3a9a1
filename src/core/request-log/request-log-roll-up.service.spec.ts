import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Database } from '../../platform/database/database.js';
import { RequestLogRollUpService } from './request-log-roll-up.service.js';
import { ROLL_UP } from './roll-up-statements.js';

const NEWEST = 60_000;

describe(RequestLogRollUpService.name, () => {
  const now = jest.spyOn(performance, 'now');
  afterEach(() => now.mockRestore());

  it('adapts the batch size to the duration, since settlements may wait', async () => {
    const slow = [900, 900, 600];
    const batches: number[] = [];
    const progress = { rolled_up_id: 0, series_id: 0, facet_id: 0 };
    let clockMs = 0;
    now.mockImplementation(() => clockMs);
    const client = {
      query: (statement: string, values: number[] = []) => {
        if (statement === ROLL_UP) batches.push(values[1]! - values[0]!);
        if (statement.includes('SET rolled_up_id = $1')) {
          Object.assign(progress, {
            rolled_up_id: values[0],
            series_id: values[1],
            facet_id: values[1],
          });
          clockMs += slow.shift() ?? 10;
        }
        return Promise.resolve({ rows: statement.includes('SKIP LOCKED') ? [progress] : [] });
      },
    };
    const database = {
      query: (statement: string) =>
        Promise.resolve({
          rowCount: 1,
          rows: statement.includes('last_id') ? [{ last_id: NEWEST, has_work: true }] : [{}],
        }),
      transaction: <Result>(work: (one: typeof client) => Promise<Result>) =>
        batches.reduce((sum, rows) => sum + rows, 0) < NEWEST
          ? work(client)
          : Promise.resolve(false),
    } as unknown as Database;
    const service = new RequestLogRollUpService(database);
    await service.rollUpNow();
    await service.onApplicationShutdown();
    expect(batches).toEqual([
      10_000, 5_000, 2_500, 1_250, 2_500, 5_000, 10_000, 10_000, 10_000, 3_750,
    ]);
  });
});
