import type { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';
import pg, { type PoolClient, type PoolConfig } from 'pg';
import { DatabaseUnavailableError } from '../errors/gateway-errors.js';
import { noteConnectionError, READ_ONLY } from './database-outage.js';

declare module 'pg' {
  interface ClientBase {
    /** Has no type of its own; its stream is the socket. */
    readonly connection: EventEmitter & { readonly stream: Writable };
  }
}

/** What PostgreSQL tells of a session, unasked, when it opens and when it changes. */
interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

const READ_ONLY_PARAMETERS = new Set(['default_transaction_read_only', 'in_hot_standby']);

/**
 * A session that knows whether it is of any use: one that opened on a standby, or while writes were
 * refused, goes on refusing them when the database takes them again.
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

/** A pool that keeps no session that takes no writes, and opens none while the server is silent. */
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
      // The pool drops a session that ends.
      if (client instanceof SessionClient && client.isReadOnly) void client.end();
    });
  }

  /** Whether anybody has a session, or waits for one. */
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

  /** Whoever waits for an answer on one of these sessions is told that there will be none. */
  cut(): void {
    for (const client of this.inUse) client.connection.stream.destroy();
  }
}

/** All sessions by which callers' requests reach one database. */
export class DatabaseSessions {
  /** While it is known that the server answers nobody, nobody is given a session to wait on. */
  isSilent = false;
  private readonly pools: SessionPool[] = [];

  get isBusy(): boolean {
    return this.pools.some((pool) => pool.isBusy);
  }

  open(options: PoolConfig): SessionPool {
    const pool = new SessionPool(this, options);
    // A session that dies while it idles is replaced; unheard it would end the process.
    pool.on('error', () => undefined);
    this.pools.push(pool);
    return pool;
  }

  /** The package `pg` as TypeORM takes it, with these pools. */
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
