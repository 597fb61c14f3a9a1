import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { GraphilePresence } from './graphile-presence.js';

/** How the fake database answers new connections. */
const database = { isAway: false, taken: new Set<string>() };
/** The part of a connection that is used. */
interface Connection {
  connect(): Promise<unknown>;
  query(sql: string, values?: string[]): Promise<{ rows: object[] }>;
  end(): Promise<void>;
}

/** A connection and the queries it received. */
interface ClientRequest {
  readonly client: pg.Client;
  readonly queries: string[];
  readonly names: string[];
}
const clients: ClientRequest[] = [];
const requestOf = (client: unknown): ClientRequest => clients.find((one) => one.client === client)!;

const HOST = 'test';

/** Connects `HOST` to the fake `database`. Other hosts belong to services of earlier suites. */
function pretend(): void {
  const prototype: Connection = pg.Client.prototype;
  const { connect, query, end } = prototype;
  jest.spyOn(prototype, 'connect').mockImplementation(function (this: pg.Client) {
    if (this.host !== HOST) return connect.call(this);
    clients.push({ client: this, queries: [], names: [] });
    return database.isAway ? Promise.reject(new Error('refused')) : Promise.resolve();
  });
  jest.spyOn(prototype, 'query').mockImplementation(function (
    this: pg.Client,
    sql: string,
    values: string[] = [],
  ) {
    if (this.host !== HOST) return query.call(this, sql, values);
    const [name] = values;
    if (database.isAway) return Promise.reject(new Error('gone'));
    requestOf(this).queries.push(sql);
    if (name === undefined) return Promise.resolve({ rows: [] });
    if (sql.includes('pg_try_advisory_lock')) requestOf(this).names.push(name);
    return Promise.resolve({ rows: [{ taken: !database.taken.has(name) }] });
  });
  jest.spyOn(prototype, 'end').mockImplementation(function (this: pg.Client) {
    return this.host === HOST ? Promise.resolve() : end.call(this);
  });
}

describe(GraphilePresence.name, () => {
  const onNewRows = jest.fn();
  let presence: GraphilePresence;
  const emit = (at: number, event: 'error' | 'end' | 'notification'): boolean =>
    clients.at(at)!.client.emit(event, new Error('reset'));

  beforeEach(async () => {
    jest.useFakeTimers();
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    clients.length = 0;
    pretend();
    database.isAway = false;
    database.taken.clear();
    onNewRows.mockReset();
    presence = new GraphilePresence(`postgres://${HOST}`, onNewRows);
    await presence.start();
  });
  afterEach(async () => {
    await presence.stop();
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('reports new rows', () => {
    expect(clients[0]!.queries).toEqual(['LISTEN "jobs:insert"']);
    emit(0, 'notification');
    expect(onNewRows).toHaveBeenCalledTimes(1);
  });

  it('takes a name unless another process holds it', async () => {
    database.taken.add('theirs');
    expect(await presence.take('ours')).toBe(true);
    expect(await presence.take('theirs')).toBe(false);
  });

  it('takes its names again after an outage, except released and foreign ones', async () => {
    database.taken.add('theirs');
    for (const name of ['one', 'two', 'theirs']) await presence.take(name);
    await presence.release('one');
    emit(0, 'error');
    const ended = jest.mocked(pg.Client.prototype.end).mock.contexts;
    expect(ended.filter((client) => client === clients[0]!.client)).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(500);
    expect(clients).toHaveLength(2);
    expect(clients[1]!.names).toEqual(['two']);
  });

  it('replaces a lost connection once, however many errors it emits', async () => {
    emit(0, 'error');
    emit(0, 'end');
    await jest.advanceTimersByTimeAsync(5_000);
    emit(0, 'end');
    await jest.advanceTimersByTimeAsync(5_000);
    expect(clients).toHaveLength(2);
  });

  it('takes names without a query during an outage and queries again afterwards', async () => {
    database.isAway = true;
    emit(0, 'error');
    expect(await presence.take('one')).toBe(true);
    await jest.advanceTimersByTimeAsync(5_000);
    const tries = clients.length;
    expect(tries).toBeGreaterThan(2);
    expect(Logger.prototype.warn).toHaveBeenCalledTimes(1);
    database.isAway = false;
    await jest.advanceTimersByTimeAsync(500);
    expect(clients.at(-1)!.names).toEqual(['one']);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(clients).toHaveLength(tries + 1);
  });

  it('logs each outage once', async () => {
    for (const _ of [1, 2]) {
      database.isAway = true;
      emit(-1, 'error');
      await jest.advanceTimersByTimeAsync(2_000);
      database.isAway = false;
      await jest.advanceTimersByTimeAsync(2_000);
    }
    expect(Logger.prototype.warn).toHaveBeenCalledTimes(2);
  });

  it('does not reconnect once stopped', async () => {
    emit(0, 'error');
    await presence.stop();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(clients).toHaveLength(1);
  });
});
