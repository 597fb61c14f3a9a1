import type { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';
import pg, { type PoolClient, type PoolConfig } from 'pg';
import { DatabaseUnavailableError } from '../errors/gateway-errors.js';
import { noteConnectionError, READ_ONLY } from './database-outage.js';

declare module 'pg' {
  interface ClientBase {
    /** pg's types omit it; its stream is the socket. */
    readonly connection: EventEmitter & { readonly stream: Writable };
  }
}

/** PostgreSQL's report of a session parameter, sent when the session opens and on each change. */
interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

const READ_ONLY_PARAMETERS = new Set(['default_transaction_read_only', 'in_hot_standby']);

/**
 * A session that detects whether it can write. One that opened on a standby, or while writes were
 * rejected, keeps rejecting them after the database accepts them again.
 */
class SessionClient extends pg.Client {
  isReadOnly = false;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const { connection } = this;
    connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) => {
      if (READ_ONLY_PARAMETERS.has(parameterName) && parameterValue === 'on')
        this.isReadOnly = true;
    });
    connection.on('errorMessage', ({ code }: pg.DatabaseError) => {
      if (code === READ_ONLY) this.isReadOnly = true;
    });
    connection.on('error', noteConnectionError);
  }
}

type ConnectCallback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: Error | boolean) => void,
) => void;

/** A pool that drops read-only sessions, and opens none while the server is silent. */
export class SessionPool extends pg.Pool {
  private readonly inUse = new Set<PoolClient>();

  constructor(
    readonly sessions: DatabaseSessions,
    options: PoolConfig,
  ) {
    super({ ...options, Client: SessionClient });
    this.on('acquire', (client) => this.inUse.add(client));
    this.on('release', (_error, client) => {
      this.inUse.delete(client);
      // The pool removes a session that ends.
      if (client instanceof SessionClient && client.isReadOnly) void client.end();
    });
  }

  /** True when any session is in use or waited for. */
  get isBusy(): boolean {
    return this.inUse.size > 0 || this.waitingCount > 0;
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<PoolClient> | void {
    if (this.sessions.isSilent) {
      const error = new DatabaseUnavailableError({ cause: new Error('the database is silent') });
      return callback ? callback(error, undefined, () => undefined) : Promise.reject(error);
    }
    if (callback) {
      return super.connect((error, client, done) => {
        if (error) noteConnectionError(error);
        callback(error, client, done);
      });
    }
    return super.connect().catch((error: unknown) => {
      noteConnectionError(error);
      throw error;
    });
  }

  /** Closes the sessions in use, so that everything waiting for an answer fails. */
  cut(): void {
    for (const client of this.inUse) client.connection.stream.destroy();
  }
}

/** Holds the sessions that callers' requests use on one database. */
export class DatabaseSessions {
  /** True while the server is known not to answer; no session is handed out then. */
  isSilent = false;
  private readonly pools: SessionPool[] = [];

  get isBusy(): boolean {
    return this.pools.some((pool) => pool.isBusy);
  }

  open(options: PoolConfig): SessionPool {
    const pool = new SessionPool(this, options);
    // The pool replaces an idle session that dies. Without a listener the error would end the process.
    pool.on('error', () => undefined);
    this.pools.push(pool);
    return pool;
  }

  /** The package `pg` in the form that TypeORM expects, with these pools. */
  get driver(): object {
    const open = (options: PoolConfig): SessionPool => this.open(options);
    return {
      ...pg,
      Pool: function Pool(options: PoolConfig) {
        return open(options);
      },
    };
  }

  cut(): void {
    for (const pool of this.pools) pool.cut();
  }
}
