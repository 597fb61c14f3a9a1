import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SweepTimer } from '../time/sweep-timer.js';
import type { Database } from './database.js';
import { DueWork } from './due-work.js';

describe(DueWork.name, () => {
  const query = jest.fn<(statement: string) => Promise<{ rows: object[] }>>();
  const database = { lookUps: { query } } as unknown as Database;
  let dueWork: DueWork;
  let rounds: string[];

  beforeEach(() => {
    jest.useFakeTimers();
    query.mockReset();
    dueWork = new DueWork(database);
    rounds = [];
  });
  afterEach(async () => {
    await dueWork.onApplicationShutdown();
    jest.useRealTimers();
  });

  const sweepOf = (name: string): SweepTimer =>
    new SweepTimer(
      () => Promise.resolve(rounds.push(name)),
      () => undefined,
    );

  it('checks all conditions in one statement and starts the sweeps that have work', async () => {
    query.mockResolvedValue({ rows: [{ 0: false, 1: true, 2: null }] });
    dueWork.watch('EXISTS (one)', sweepOf('one'));
    dueWork.watch('EXISTS (two)', sweepOf('two'));
    dueWork.watch('EXISTS (three)', sweepOf('three'));
    await jest.advanceTimersByTimeAsync(2_999);
    expect(query).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(query.mock.calls).toEqual([
      ['SELECT (EXISTS (one)) AS "0", (EXISTS (two)) AS "1", (EXISTS (three)) AS "2"'],
    ]);
    expect(rounds).toEqual(['two']);
    await jest.advanceTimersByTimeAsync(3_000);
    expect(rounds).toEqual(['two', 'two']);
  });

  it('starts every sweep when the statement fails', async () => {
    query.mockRejectedValue(new Error('unavailable'));
    dueWork.watch('a', sweepOf('one'));
    dueWork.watch('b', sweepOf('two'));
    await jest.advanceTimersByTimeAsync(3_000);
    expect(rounds).toEqual(['one', 'two']);
  });

  it('omits stopped sweeps and runs no statement when all are stopped', async () => {
    query.mockResolvedValue({ rows: [{ 0: true }] });
    const [first, second] = [sweepOf('first'), sweepOf('second')];
    dueWork.watch('a', first);
    dueWork.watch('b', second);
    await first.stop();
    await jest.advanceTimersByTimeAsync(3_000);
    expect(query).toHaveBeenLastCalledWith('SELECT (b) AS "0"');
    expect(rounds).toEqual(['second']);
    await second.stop();
    await jest.advanceTimersByTimeAsync(3_000);
    expect(query).toHaveBeenCalledTimes(1);
  });
});
