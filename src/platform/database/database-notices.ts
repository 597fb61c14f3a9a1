import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { endsWithin } from '../time/within.js';
import { Database } from './database.js';
import { reasonOf } from './database-outage.js';

/** Interval of the checks for missed notices: a pooler that shares sessions by transaction forwards none. */
const LOOK_EVERY_MS = 3_000;
/** A session that does not answer within this time is dropped. */
const ANSWER_LIMIT_MS = 2_000;
/** An answer that arrived while this process was blocked is read before it counts as late. */
const GRACE_MS = 100;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Receives a notice's text, or undefined when notices may have been missed and the listener should
 * check for itself. Called synchronously: reads its data separately, and tolerates a database outage.
 */
export type NoticeListener = (text: string | undefined) => void;

const NO_LISTENERS: ReadonlySet<NoticeListener> = new Set();

/** Tells whether a listener is up to date, which saves it a check. */
export interface Mark {
  /** SQL of one value that every change changes. */
  readonly expression: string;
  /** That value, as text, as of the listener's last read. */
  readonly known: () => string | null;
}

/** Runs a statement: the pool, or a transaction's client. */
interface Notifier {
  query(text: string, values: unknown[]): Promise<unknown>;
}

/**
 * Notifies all processes on the database when the transaction commits. Identical notices of one
 * transaction are sent once.
 *
 * @param text at most 8,000 bytes
 */
export async function notify(transaction: Notifier, channel: string, text: string): Promise<void> {
  await transaction.query('SELECT pg_notify($1, $2)', [channel, text]);
}

/**
 * Receives the notices of other processes on one session outside the pools, opened for the first
 * listener and reopened when lost. Because notices can be missed, listeners are asked to check after
 * each reconnect and every three seconds, unless their mark shows no change. `DatabasePulse` decides
 * whether the database is available; this class only drops a session that does not answer.
 */
@Injectable()
export class DatabaseNotices implements OnApplicationShutdown {
  private readonly logger = new Logger(DatabaseNotices.name);
  private readonly listeners = new Map<string, Set<NoticeListener>>();
  private readonly marks = new Map<NoticeListener, Mark>();
  private client: pg.Client | undefined;
  private isListening = false;
  private sessions = 0;
  private timer: NodeJS.Timeout | undefined;
  private reconnect: NodeJS.Timeout | undefined;
  private pauseMs = FIRST_PAUSE_MS;
  private isOutageLogged = false;
  private isStopped = false;

  constructor(private readonly database: Database) {}

  /** True when notices are currently received. */
  get isConnected(): boolean {
    return this.isListening;
  }

  /** Number of the current or last session, counted from 1. Notices may have been missed before a new one. */
  get session(): number {
    return this.sessions;
  }

  /**
   * Subscribes to the notices of a channel.
   *
   * @param channel lower-case letters and `_`
   * @param mark without one, the listener is asked to check every three seconds
   * @returns a function that unsubscribes
   */
  listen(channel: string, listener: NoticeListener, mark?: Mark): () => void {
    if (mark) this.marks.set(listener, mark);
    const known = this.listeners.get(channel);
    const listeners = known ?? new Set();
    listeners.add(listener);
    this.listeners.set(channel, listeners);
    if (!this.timer) this.begin();
    else if (!known && this.isListening) void this.listenAlso(channel, listener);
    return () => {
      listeners.delete(listener);
      this.marks.delete(listener);
    };
  }

  /** Ends without a farewell, which a silent server would not answer. */
  onApplicationShutdown(): void {
    this.isStopped = true;
    clearInterval(this.timer);
    clearTimeout(this.reconnect);
    this.drop(this.client);
  }

  private begin(): void {
    if (this.isStopped) return;
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.timer.unref();
    void this.connect();
  }

  private async connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.database.url,
      application_name: 'model-gateway notices',
      connectionTimeoutMillis: ANSWER_LIMIT_MS,
      keepAlive: true,
    });
    this.client = client;
    client.on('error', (error) => this.lose(client, error));
    client.on('end', () => this.lose(client, undefined));
    client.on('notification', ({ channel, payload }) => this.deliver(channel, payload ?? ''));
    try {
      await client.connect();
      for (const channel of this.listeners.keys()) await this.ask(client, listenTo(channel));
    } catch (error) {
      this.lose(client, error);
      return;
    }
    if (this.client !== client) return;
    this.isListening = true;
    this.sessions++;
    this.pauseMs = FIRST_PAUSE_MS;
    if (this.isOutageLogged) this.logger.log('notices from other instances resumed');
    this.isOutageLogged = false;
    this.askAll();
  }

  private async listenAlso(channel: string, listener: NoticeListener): Promise<void> {
    const { client } = this;
    if (!client) return;
    try {
      await this.ask(client, listenTo(channel));
      this.deliverTo(listener, undefined);
    } catch (error) {
      this.lose(client, error);
    }
  }

  /** Checks the session, and asks listeners that are not up to date to check. */
  private async look(): Promise<void> {
    const { client } = this;
    if (!client || !this.isListening) return this.askAll();
    const marked = [...this.marks];
    try {
      const columns = marked.map(
        ([, { expression }], index) => `(${expression})::text AS "${index}"`,
      );
      const row = await this.ask<Record<string, string | null>>(
        client,
        `SELECT ${columns.join(', ') || '1'}`,
      );
      const current = marked.filter(([, { known }], index) => row?.[index] === known());
      this.askAll(new Set(current.map(([listener]) => listener)));
    } catch (error) {
      // The listeners are asked after the reconnect.
      this.lose(client, error);
    }
  }

  /** @throws Error when there is no answer in time */
  private async ask<Row extends pg.QueryResultRow>(
    client: pg.Client,
    statement: string,
  ): Promise<Row | undefined> {
    const answer = client.query<Row>(statement);
    if (!(await endsWithin(ANSWER_LIMIT_MS, answer)) && !(await endsWithin(GRACE_MS, answer)))
      throw new Error('the session does not answer');
    return (await answer).rows[0];
  }

  private lose(client: pg.Client, error: unknown): void {
    if (this.client !== client) return;
    const wasListening = this.isListening;
    this.drop(client);
    if (this.isStopped) return;
    // An immediate reconnect needs no log line.
    if (!wasListening && !this.isOutageLogged) {
      this.isOutageLogged = true;
      this.logger.warn(
        `Notices from other instances are delayed: no database session to receive them${reasonOf(error)}`,
      );
    }
    this.reconnect = setTimeout(() => void this.connect(), wasListening ? 0 : this.pauseMs);
    this.reconnect.unref();
    if (!wasListening) this.pauseMs = Math.min(2 * this.pauseMs, LONGEST_PAUSE_MS);
  }

  private drop(client: pg.Client | undefined): void {
    if (this.client === client) {
      this.client = undefined;
      this.isListening = false;
    }
    client?.connection.stream.destroy();
  }

  private deliver(channel: string, text: string): void {
    for (const listener of this.listeners.get(channel) ?? []) this.deliverTo(listener, text);
  }

  private askAll(except: ReadonlySet<NoticeListener> = NO_LISTENERS): void {
    for (const listeners of this.listeners.values())
      for (const listener of listeners)
        if (!except.has(listener)) this.deliverTo(listener, undefined);
  }

  private deliverTo(listener: NoticeListener, text: string | undefined): void {
    if (this.isStopped) return;
    try {
      listener(text);
    } catch (error) {
      this.logger.error(error);
    }
  }
}

function listenTo(channel: string): string {
  return `LISTEN ${pg.escapeIdentifier(channel)}`;
}
