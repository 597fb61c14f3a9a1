import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Socket } from 'node:net';
import { DatabasePulse } from '../../src/platform/database/database-pulse.js';
import { InstanceService } from '../../src/core/ledger/instance.service.js';
import type { PoolClient } from 'pg';
import { Database } from '../../src/platform/database/database.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe(DatabasePulse.name, () => {
  let own: TestDatabase;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    own = await createTestDatabase();
  });
  afterAll(() => own.drop());

  it('is shared by concurrent callers', async () => {
    let beats = 0;
    const statement = { text: 'SELECT 1' };
    const pulse = new DatabasePulse(own.database, { statement, onBeat: () => beats++ });
    const found = await Promise.all(Array.from({ length: 20 }, () => pulse.check()));
    expect(new Set(found)).toEqual(new Set(['ok']));
    expect(beats).toBe(1);
    await pulse.stop();
  });

  it('survives a dead session', async () => {
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

  it('uses no more disk after hundreds of beats than after one', async () => {
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

describe(`${Database.name}.transaction`, () => {
  let own: TestDatabase;

  beforeAll(async () => (own = await createTestDatabase()));
  afterAll(() => own.drop());

  it('starts on another session when pooled ones died unnoticed', async () => {
    const { pool } = own.database;
    const clients = await Promise.all(Array.from({ length: 4 }, () => pool.connect()));
    const pids = await Promise.all(clients.map(pidOf));
    const sockets = clients.map((client) => client.connection.stream as unknown as Socket);
    // Their closing is noticed no sooner than the response to the next statement.
    for (const socket of sockets) socket.pause();
    for (const client of clients) client.release();
    const other = await createTestDatabase({ migrate: false });
    await other.database.query(
      'SELECT pg_terminate_backend(pid, 5000) FROM unnest($1::int[]) AS pid',
      [pids],
    );
    await other.drop();

    let works = 0;
    const used = own.database.transaction((client) => {
      works++;
      return pidOf(client);
    });
    for (const socket of sockets) setImmediate(() => socket.resume());
    expect(pids).not.toContain(await used);
    expect(works).toBe(1);
  });

  it('does not repeat its work when the session dies later', async () => {
    let works = 0;
    const lost = own.database.transaction((client) => {
      works++;
      return client.query('SELECT pg_terminate_backend(pg_backend_pid())');
    });
    await expect(lost).rejects.toThrow();
    expect(works).toBe(1);
  });
});

async function pidOf(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]!.pid;
}
