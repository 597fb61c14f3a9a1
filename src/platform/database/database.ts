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

/** A look-up that takes so long has lost its server. */
const LOOK_UP_LIMIT_MS = 4_000;

/** Statements and transactions of background work that run at once where the server has a machine of its own … */
const IN_BACKGROUND_AT_ONCE = 4;
/** … and where it shares this one, of whose processors one is left to the requests. */
const IN_BACKGROUND_HERE = Math.min(IN_BACKGROUND_AT_ONCE, Math.max(1, availableParallelism() - 1));
/** Hosts of URLs; none is a socket in a folder. */
const HERE = new Set(['', '127.0.0.1', '[::1]', 'localhost']);
/** One that takes longer waits for a lock, or for a server that is silent; the next goes on beside it. */
const TURN_LIMIT_MS = 1_000;

/** A pool, or one connection inside a transaction. */
export interface SqlExecutor {
  query<Row extends QueryResultRow>(sql: string, values?: unknown[]): Promise<QueryResult<Row>>;
}

/**
 * Plain SQL on TypeORM's own connection pool, for the paths where an entity manager would cost
 * more than the statement: the ledger's group commit and the key look-up.
 */
@Injectable()
export class Database implements OnApplicationShutdown {
  private ledgerConnections: SessionPool | undefined;

  /**
   * Queries of a few rows that requests and probes wait for. One that a server which has fallen
   * silent does not answer fails, and its connection is given up, so that the pool is not used up.
   */
  readonly lookUps: Pick<Database, 'query'> = {
    query: <Row extends QueryResultRow>(text: string, values?: unknown[]) =>
      this.pool.query<Row>(withQueryLimit({ text, values }, LOOK_UP_LIMIT_MS)),
  };

  /**
   * For what no request waits for. So few of these run at once, the others waiting here, that the requests'
   * own statements find the server at leisure. Not to be used within a transaction of its own.
   */
  readonly background: Pick<Database, 'query' | 'transaction'> = {
    query: <Row extends QueryResultRow>(sql: string, values?: unknown[]) =>
      this.inBackground(() => this.query<Row>(sql, values)),
    transaction: <Result>(work: (client: PoolClient) => Promise<Result>) =>
      this.inBackground(() => this.transaction(work)),
  };
  private backgroundTurns: LimitFunction | undefined;

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  get url(): string {
    return this.driver.options.url ?? '';
  }

  get pool(): SessionPool {
    return this.driver.master as SessionPool;
  }

  /** Those of the pool and of the ledger. */
  get sessions(): DatabaseSessions {
    return this.pool.sessions;
  }

  /** The ledger's own connections, made on first use. */
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

  /** Runs `work` in one transaction; rolls back and throws on when it throws. */
  async transaction<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.begin();
    let broken: Error | undefined;
    // A connection that dies between two statements says so here; unheard it would end the process.
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
        // The connection is unusable: it leaves the pool.
        broken = rollbackError;
      });
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  }

  /**
   * Binds a repository to an executor: in a transaction, entities and plain SQL commit together. Use `insert`,
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
    const turns = (this.backgroundTurns ??= pLimit(
      isOnThisMachine(this.url) ? IN_BACKGROUND_HERE : IN_BACKGROUND_AT_ONCE,
    ));
    const { result } = await turns(async () => {
      const result = work();
      await endsWithin(TURN_LIMIT_MS, result);
      return { result };
    });
    return result;
  }

  /**
   * A session with a transaction begun. One that died since its last use says so at this first statement,
   * which changes nothing: another takes its place, until none of the old ones can be left.
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

function isOnThisMachine(url: string): boolean {
  return URL.canParse(url) && HERE.has(new URL(url).hostname);
}

/**
 * A query that fails when it has not been answered for so long; pg then gives its connection up.
 * `query_timeout` is an option of pg that its types do not know.
 */
export function withQueryLimit({ name, text, values }: QueryConfig, limitMs: number): QueryConfig {
  const limited = { name, text, values, query_timeout: limitMs };
  return limited;
}
