import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import { DatabaseNotices, notify } from '../../src/platform/database/database-notices.js';
import { NoticesChannel } from '../../src/platform/database/notices-channel.js';
import { databaseOptions } from '../../src/platform/database/database-options.js';
import { recordLogs } from '../support/recorded-logs.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const CHANNEL = 'letters';

describe(DatabaseNotices.name, () => {
  const warn = recordLogs('warn', DatabaseNotices.name);
  const log = recordLogs('log', DatabaseNotices.name);
  let own: TestDatabase;
  let proxy: TcpProxy;
  /** Never opened: the notices use only its URL. */
  let far: Database;
  let notices: DatabaseNotices;
  let notified: (string | undefined)[];

  beforeAll(async () => {
    // Checks are seconds apart; this shortens the interval.
    const { setInterval: begin } = globalThis;
    jest
      .spyOn(global, 'setInterval')
      .mockImplementation((check, ms) => begin(check, Number(ms) / 10));
    own = await createTestDatabase({ migrate: false });
  });
  afterAll(() => own.drop());

  beforeEach(async () => {
    proxy = await TcpProxy.before(own.url);
    far = new Database(new DataSource(databaseOptions(proxy.inFrontOf(own.url))));
    notices = new DatabaseNotices(far);
    notified = [];
  });
  afterEach(async () => {
    notices.onApplicationShutdown();
    await proxy.cut();
    warn.mockClear();
    log.mockClear();
  });

  async function listen(): Promise<void> {
    notices.listen(CHANNEL, (text) => notified.push(text));
    await until(() => notices.isConnected && notified.length > 0);
    notified.length = 0;
  }
  const announce = (text: string) => notify(own.database, CHANNEL, text);

  it('delivers what another process announces after its commit, and nothing rolled back', async () => {
    await listen();
    const elsewhere: (string | undefined)[] = [];
    const end = notices.listen('parcels', (text) => elsewhere.push(text));
    await until(() => elsewhere.length > 0);
    const failing = own.database.transaction(async (client) => {
      await notify(client, CHANNEL, 'rolled back');
      throw new Error('on purpose');
    });
    await expect(failing).rejects.toThrow('on purpose');
    await own.database.transaction(async (client) => {
      await notify(client, CHANNEL, 'first');
      await notify(client, 'parcels', 'other');
    });
    await until(() => notified.includes('first') && elsewhere.includes('other'));
    expect(notified).not.toContain('rolled back');
    end();
    await notify(own.database, 'parcels', 'after the end');
    await announce('second');
    await until(() => notified.includes('second'));
    expect(elsewhere).not.toContain('after the end');
  });

  it('notifies listeners with a mark only when the mark has changed', async () => {
    await own.database.query('CREATE TABLE shelf (number integer NOT NULL)');
    const received: (string | undefined)[] = [];
    let known: string | null = null;
    const end = notices.listen('shelf', (text) => received.push(text), {
      expression: 'SELECT max(number) FROM shelf',
      known: () => known,
    });
    await listen();
    received.length = 0;
    await until(() => notified.length > 0);
    expect(received).toEqual([]);
    await own.database.query('INSERT INTO shelf VALUES (1)');
    // Repeated until the listener has caught up.
    await until(() => received.length > 1);
    known = '1';
    notified.length = 0;
    await until(() => notified.length > 0);
    received.length = 0;
    await until(() => notified.length > 1);
    expect(received).toEqual([]);
    end();
    await own.database.query('DROP TABLE shelf');
    notified.length = 0;
    await until(() => notified.length > 0);
    expect(notices.session).toBe(1);
  });

  it('reconnects at once when its session is ended, and asks for a check, without a warning', async () => {
    await listen();
    await own.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'model-gateway notices' AND datname = current_database()`,
    );
    await announce('undelivered');
    await until(() => notified.includes(undefined));
    await until(() => notices.isConnected);
    await announce('heard');
    await until(() => notified.includes('heard'));
    expect(notified).not.toContain('undelivered');
    expect(warn).not.toHaveBeenCalled();
  });

  it('warns once per outage, and logs once that it is over', async () => {
    await listen();
    await proxy.cut();
    await until(() => warn.mock.calls.length > 0);
    // At least the third attempt: pauses are 100, 200 and 400 ms.
    const attempts = jest.spyOn(global, 'setTimeout');
    await until(() => attempts.mock.calls.filter(([, ms]) => ms === 400).length > 0);
    attempts.mockRestore();
    expect(warn).toHaveBeenCalledTimes(1);
    await proxy.open();
    await until(() => notices.isConnected);
    expect(notified).toContain(undefined);
    expect(log).toHaveBeenCalledTimes(1);
    await announce('again');
    await until(() => notified.includes('again'));
  });

  it('gives up a silent session, and does not delay a shutdown', async () => {
    await listen();
    proxy.silence();
    await until(() => !notices.isConnected);
    notices.onApplicationShutdown();
    expect(notices.isConnected).toBe(false);
  });

  it('asks for a check every few seconds, for poolers that drop notices', async () => {
    await listen();
    await until(() => notified.includes(undefined));
    expect(notices.isConnected).toBe(true);
  });

  it('continues when a listener throws', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    notices.listen(CHANNEL, () => {
      throw new Error('of a listener');
    });
    await listen();
    await announce('all the same');
    await until(() => notified.includes('all the same'));
    expect(error).toHaveBeenCalled();
    error.mockRestore();
  });

  it('serves as a channel that reports possible gaps, but not every few seconds', async () => {
    const near = new NoticesChannel(own.database, notices);
    const received: string[] = [];
    near.listen(
      CHANNEL,
      (text) => received.push(text),
      () => received.push('back'),
    );
    await until(() => received.length > 0);
    expect(await near.publish(CHANNEL, 'first')).toBe(true);
    await until(() => received.includes('first'));
    // A periodic check of the notices.
    await listen();
    await until(() => notified.includes(undefined));
    expect(received).toEqual(['back', 'first']);
    await proxy.cut();
    await until(() => !notices.isConnected);
    await near.publish(CHANNEL, 'missed');
    await proxy.open();
    await until(() => received.length === 3);
    expect(received).toEqual(['back', 'first', 'back']);
    const unreachable = new NoticesChannel(far, notices);
    await proxy.cut();
    expect(await unreachable.publish(CHANNEL, 'undelivered')).toBe(false);
  });
});
