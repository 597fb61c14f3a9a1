import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { availableParallelism } from 'node:os';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const AT_ONCE = Math.max(1, availableParallelism() - 1);

describe('statements in the background', () => {
  let own: TestDatabase;
  beforeAll(async () => {
    own = await createTestDatabase({ migrate: false });
  });
  afterAll(() => own.drop());

  it('run a few at a time, in the order in which they were asked for', async () => {
    const { background } = own.database;
    const ended: number[] = [];
    let underWay = 0;
    let most = 0;
    const transactions = Array.from({ length: 3 * AT_ONCE }, (_, index) =>
      background.transaction(async (client) => {
        most = Math.max(most, ++underWay);
        await client.query('SELECT pg_sleep(0.02)');
        underWay--;
        ended.push(index);
      }),
    );
    const rows = await background.query('SELECT 1 AS one');
    await Promise.all(transactions);
    expect(rows.rows).toEqual([{ one: 1 }]);
    expect(most).toBe(AT_ONCE);
    if (AT_ONCE === 1) expect(ended).toEqual([0, 1, 2]);
  });

  it('leave the others their sessions', async () => {
    const { background } = own.database;
    const slow = Promise.all(
      Array.from({ length: 50 }, () => background.query('SELECT pg_sleep(0.01)')),
    );
    const startedMs = performance.now();
    await own.database.query('SELECT 1');
    expect(performance.now() - startedMs).toBeLessThan(300);
    await slow;
  });

  it('fail by themselves', async () => {
    const { background } = own.database;
    const failing = background.query('SELECT nothing FROM nowhere');
    const next = background.query('SELECT 1 AS one');
    await expect(failing).rejects.toThrow('nowhere');
    await expect(next).resolves.toMatchObject({ rows: [{ one: 1 }] });
  });

  it('do not wait for those that wait for a lock', async () => {
    const { background } = own.database;
    let isDone = false;
    let go = (): void => undefined;
    const locked = new Promise<void>((resolve) => (go = resolve));
    const stuck = Array.from({ length: AT_ONCE }, () =>
      background.transaction(async () => {
        await locked;
      }),
    );
    const next = background.query('SELECT 1').then(() => (isDone = true));
    await until(() => isDone);
    go();
    await Promise.all([...stuck, next]);
  });
});
