import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { availableParallelism } from 'node:os';
import type { DataSource } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

/** For a database server on the same machine. */
const AT_ONCE = Math.min(4, Math.max(1, availableParallelism() - 1));

describe('statements in the background', () => {
  let own: TestDatabase;
  beforeAll(async () => {
    own = await createTestDatabase({ migrate: false });
  });
  afterAll(() => own.drop());

  it('run a few at a time, in order', async () => {
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

  it('leave sessions for foreground statements', async () => {
    const { background } = own.database;
    let ended = 0;
    const slow = Array.from({ length: 50 }, async () => {
      await background.query('SELECT pg_sleep(0.01)');
      ended++;
    });
    await own.database.query('SELECT 1');
    expect(ended).toBeLessThan(slow.length);
    await Promise.all(slow);
  });

  it('fail separately', async () => {
    const { background } = own.database;
    const failing = background.query('SELECT nothing FROM nowhere');
    const next = background.query('SELECT 1 AS one');
    await expect(failing).rejects.toThrow('nowhere');
    await expect(next).resolves.toMatchObject({ rows: [{ one: 1 }] });
  });

  it('fail when the pool is closed, without other effects', async () => {
    const driver = { options: { url: 'postgres://a:b@localhost/gateway' }, master: undefined };
    const { background } = new Database({ driver } as unknown as DataSource);
    await expect(background.query('SELECT 1')).rejects.toThrow(TypeError);
  });

  it('are not blocked by those that wait for a lock', async () => {
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

  it.each([
    ['postgres://a:b@127.0.0.1:5432/gateway', AT_ONCE],
    ['postgres://a:b@localhost/gateway', AT_ONCE],
    ['postgres://a:b@[::1]/gateway', AT_ONCE],
    ['postgres:///gateway?host=/run/postgresql', AT_ONCE],
    ['postgres://a:b@db.example.com/gateway', 4],
    ['postgres://a:b@one,two/gateway', 4],
  ])('for %s, run %i at a time', async (url, expected) => {
    let underWay = 0;
    let most = 0;
    const query = async (): Promise<void> => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setTimeout(resolve, 5));
      underWay--;
    };
    const driver = { options: { url }, master: { query } };
    const { background } = new Database({ driver } as unknown as DataSource);
    await Promise.all(Array.from({ length: 12 }, () => background.query('SELECT 1')));
    expect(most).toBe(expected);
  });
});
