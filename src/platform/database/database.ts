import { availableParallelism } from 'node:os';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import pLimit, { type LimitFunction } from 'p-limit';
import type { PoolClient, QueryResult, QueryResultRow, QueryConfig } from 'pg';
import { DataSource, type ObjectLiteral, type Repository } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { ledgerPoolOptions } from './database-options.js';
import { endsWithin } from '../time/within.js';
import { isLostSession } from './database-outage.js';
import { executorManager } from './executor-manager.js';
import type { DatabaseSessions, SessionPool } from './sessions.js';

/** A look-up that takes longer has lost its server. */
const LOOK_UP_LIMIT_MS = 4_000;

/** Concurrent background statements and transactions when the server is on another machine. */
const MAX_BACKGROUND_REMOTE = 4;
/** The same when it shares this machine, where one processor is left to the requests. */
const MAX_BACKGROUND_LOCAL = Math.min(
  MAX_BACKGROUND_REMOTE,
  Math.max(1, availableParallelism() - 1),
);
/** Hosts of local URLs; empty for a socket in a folder. */
const LOCAL_HOSTS = new Set(['', '127.0.0.1', '[::1]', 'localhost']);
/** Background work that takes longer is waiting for a lock or a silent server; the next one then starts concurrently. */
const MAX_SLOT_MS = 1_000;

/** A pool, or one connection inside a transaction. */
export interface SqlExecutor {
  query<Row extends QueryResultRow>(sql: string, values?: unknown[]): Promise<QueryResult<Row>>;
}

/**
 * Runs plain SQL on TypeORM's own connection pool, for paths where an entity manager would cost
 * more than the statement: the ledger's group commit and the key look-up.
 */
@Injectable()
export class Database implements OnApplicationShutdown {
  private ledgerConnections: SessionPool | undefined;

  /**
   * Runs queries of a few rows that requests and probes wait for. When a silent server does not
   * answer, the query fails and its connection is dropped, so that the pool does not fill up.
   */
  readonly lookUps: Pick<Database, 'query'> = {
    query: <Row extends QueryResultRow>(text: string, values?: unknown[]) =>
      this.pool.query<Row>(withQueryLimit({ text, values }, LOOK_UP_LIMIT_MS)),
  };

  /**
   * Runs work that no request waits for, a few at a time, so that the server has capacity for the
   * requests' own statements. Not for use within a transaction on this database.
   */
  readonly background: Pick<Database, 'query' | 'transaction'> = {
    query: <Row extends QueryResultRow>(sql: string, values?: unknown[]) =>
      this.inBackground(() => this.query<Row>(sql, values)),
    transaction: <Result>(work: (client: PoolClient) => Promise<Result>) =>
      this.inBackground(() => this.transaction(work)),
  };
  private backgroundSlots: LimitFunction | undefined;

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  get url(): string {
    return this.driver.options.url ?? '';
  }

  get pool(): SessionPool {
    return this.driver.master as SessionPool;
  }

  /** Sessions of the pool and of the ledger. */
  get sessions(): DatabaseSessions {
    return this.pool.sessions;
  }

  /** The ledger's own connections, created on first use. */
  get ledgerPool(): SessionPool {
    return (this.ledgerConnections ??= this.sessions.open(ledgerPoolOptions(this.url)));
  }

  private get driver(): PostgresDriver {
    return this.dataSource.driver as PostgresDriver;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.ledgerConnections?.end();
  }

  query<Row extends QueryResultRow>(sql: string, values?: unknown[]): Promise<QueryResult<Row>> {
    return this.pool.query<Row>(sql, values);
  }

  /** Runs `work` in one transaction; rolls back and rethrows when it throws. */
  async transaction<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.begin();
    let broken: Error | undefined;
    // Without a listener, a connection that dies between two statements would end the process.
    const onError = (error: Error): void => {
      broken = error;
    };
    client.on('error', onError);
    try {
      const result = await work(client);
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch((rollbackError: Error) => {
        // The connection is unusable; release removes it from the pool.
        broken = rollbackError;
      });
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  }

  /**
   * Binds a repository to an executor, so that entities and plain SQL commit together. Use `insert`,
   * `update` and `delete`; `save` begins a transaction of its own.
   */
  within<Row extends ObjectLiteral>(
    executor: SqlExecutor,
    repository: Repository<Row>,
  ): Repository<Row> {
    return executor === this
      ? repository
      : executorManager(this.dataSource, executor).withRepository(repository);
  }

  private async inBackground<Result>(work: () => Promise<Result>): Promise<Result> {
    const slots = (this.backgroundSlots ??= pLimit(
      isLocal(this.url) ? MAX_BACKGROUND_LOCAL : MAX_BACKGROUND_REMOTE,
    ));
    const { result } = await slots(async () => {
      const result = work();
      await endsWithin(MAX_SLOT_MS, result);
      return { result };
    });
    return result;
  }

  /**
   * Opens a transaction. A session that died since its last use fails at this first statement, which
   * changes nothing, so another one is tried until none of the old ones can be left.
   */
  private async begin(): Promise<PoolClient> {
    for (let left = this.pool.options.max; ; left--) {
      const client = await this.pool.connect();
      const onError = (): void => undefined;
      client.on('error', onError);
      try {
        await client.query('BEGIN');
        return client;
      } catch (error) {
        client.release(true);
        if (left === 0 || !isLostSession(error)) throw error;
      } finally {
        client.off('error', onError);
      }
    }
  }
}

function isLocal(url: string): boolean {
  return URL.canParse(url) && LOCAL_HOSTS.has(new URL(url).hostname);
}

/**
 * Limits how long a query waits for its answer; on a timeout pg drops the connection. pg's types lack
 * `query_timeout`.
 */
export function withQueryLimit({ name, text, values }: QueryConfig, limitMs: number): QueryConfig {
  const limited = { name, text, values, query_timeout: limitMs };
  return limited;
}
