import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DatabasePulse } from '../../src/platform/database/database-pulse.js';
import { InstanceService } from '../../src/core/ledger/instance.service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe(DatabasePulse.name, () => {
  let own: TestDatabase;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    own = await createTestDatabase();
  });
  afterAll(() => own.drop());

  it('is taken once for all who ask together', async () => {
    let beats = 0;
    const statement = { text: 'SELECT 1' };
    const pulse = new DatabasePulse(own.database, { statement, onBeat: () => beats++ });
    const found = await Promise.all(Array.from({ length: 20 }, () => pulse.check()));
    expect(new Set(found)).toEqual(new Set(['ok']));
    expect(beats).toBe(1);
    await pulse.stop();
  });

  it('goes on over a session that has died', async () => {
    const pulse = new DatabasePulse(own.database, {
      statement: { text: 'SELECT pg_backend_pid() AS pid' },
      onBeat: (row: { pid: number } | undefined) => (pid = row?.pid),
    });
    let pid: number | undefined;
    await pulse.look();
    await own.database.query('SELECT pg_terminate_backend($1)', [pid]);
    const before = pid;
    expect(await pulse.look()).toBe('ok');
    expect(pid).not.toBe(before);
    await pulse.stop();
  });

  it('leaves no more behind after hundreds of beats than after one', async () => {
    const instance = new InstanceService(own.database);
    const size = async (): Promise<number> => {
      const { rows } = await own.database.query<{ bytes: number }>(
        `SELECT pg_relation_size('instances') AS bytes`,
      );
      return rows[0]!.bytes;
    };
    for (let count = 0; count < 300; count++) await instance.beat();
    expect(await size()).toBeLessThanOrEqual(2 * 8_192);
    await instance.onApplicationShutdown();
    const { rows } = await own.database.query('SELECT FROM instances');
    expect(rows).toHaveLength(0);
  });
});
