import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { endsWithin } from '../time/within.js';
import { Database } from './database.js';
import { reasonOf } from './database-outage.js';

/** Between two looks without a notice; a pooler that shares sessions by transaction passes none on. */
const LOOK_EVERY_MS = 3_000;
/** A session that has not answered for so long is given up. */
const ANSWER_LIMIT_MS = 2_000;
/** An answer that came while this process itself stood still is read before it counts as late. */
const GRACE_MS = 100;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Told of a notice's text; undefined where notices may have been missed: look for yourself. A listener
 * that has to read reads apart, and bears a database that is away.
 */
export type NoticeListener = (text: string | undefined) => void;

const NOBODY: ReadonlySet<NoticeListener> = new Set();

/** By what a listener need not look for itself. */
export interface Mark {
  /** SQL of one value, which each change makes another. */
  readonly expression: string;
  /** That value as of what the listener has read, as text. */
  readonly known: () => string | null;
}

/** Whatever runs a statement: the pool, or a transaction's client. */
interface Notifier {
  query(text: string, values: unknown[]): Promise<unknown>;
}

/** Tells all processes on the database, when the transaction commits. At most 8,000 bytes; equal ones are told once. */
export async function notify(transaction: Notifier, channel: string, text: string): Promise<void> {
  await transaction.query('SELECT pg_notify($1, $2)', [channel, text]);
}

/**
 * What other processes on the database announce, heard on one session outside the pools. It is opened with
 * the first listener, and again whenever it is lost; the listeners are then told to look, as they are every
 * three seconds, unless a mark says that there is nothing new, since a notice may have been missed. Whether the database answers is the pulse's to say:
 * this session only gives itself up when it is not answered.
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
  private isOutageTold = false;
  private isStopped = false;

  constructor(private readonly database: Database) {}

  /** Whether notices are heard now. */
  get isConnected(): boolean {
    return this.isListening;
  }

  /** Which session notices are heard on, or were last, counted from 1; before a new one some may have been missed. */
  get session(): number {
    return this.sessions;
  }

  /**
   * From now on the listener is told of each notice on the channel.
   *
   * @param channel a plain name: lower-case letters and `_`
   * @param mark what tells that there is nothing new; without one the listener is told to look every three seconds
   * @returns what ends it
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

  /** A server that is silent would not answer a farewell, so there is none. */
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
    client.on('notification', ({ channel, payload }) => this.tell(channel, payload ?? ''));
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
    if (this.isOutageTold) this.logger.log('Changes by other instances are heard of at once again');
    this.isOutageTold = false;
    this.tellAll();
  }

  private async listenAlso(channel: string, listener: NoticeListener): Promise<void> {
    const { client } = this;
    if (!client) return;
    try {
      await this.ask(client, listenTo(channel));
      this.tellOne(listener, undefined);
    } catch (error) {
      this.lose(client, error);
    }
  }

  /** Keeps the session, and covers what it does not hear. */
  private async look(): Promise<void> {
    const { client } = this;
    if (!client || !this.isListening) return this.tellAll();
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
      this.tellAll(new Set(current.map(([listener]) => listener)));
    } catch (error) {
      // They are told once it is back.
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
      throw new Error('the session is silent');
    return (await answer).rows[0];
  }

  private lose(client: pg.Client, error: unknown): void {
    if (this.client !== client) return;
    const wasListening = this.isListening;
    this.drop(client);
    if (this.isStopped) return;
    // What is back at once is worth no word.
    if (!wasListening && !this.isOutageTold) {
      this.isOutageTold = true;
      this.logger.warn(
        `Changes by other instances are heard of late, as there is no session to listen on${reasonOf(error)}`,
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

  private tell(channel: string, text: string): void {
    for (const listener of this.listeners.get(channel) ?? []) this.tellOne(listener, text);
  }

  private tellAll(but: ReadonlySet<NoticeListener> = NOBODY): void {
    for (const listeners of this.listeners.values())
      for (const listener of listeners) if (!but.has(listener)) this.tellOne(listener, undefined);
  }

  private tellOne(listener: NoticeListener, text: string | undefined): void {
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
