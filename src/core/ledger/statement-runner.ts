import pg, {
  type Pool,
  type PoolClient,
  type QueryConfig,
  type QueryResult,
  type QueryResultRow,
} from 'pg';
import { withQueryLimit } from '../../platform/database/database.js';

/** After this long the server is assumed to be lost. */
const STATEMENT_LIMIT_MS = 10_000;

/** Runs `work` on a dedicated connection, which must be outside a transaction when it returns. */
export async function withConnection(
  pool: Pool,
  work: (client: PoolClient) => Promise<void>,
): Promise<void> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // An idle connection that dies emits an error, which would end the process without a listener.
  const onError = (error: Error) => {
    broken = error;
  };
  client.on('error', onError);
  try {
    await work(client);
  } catch (error) {
    broken ??= await rollBack(client, error);
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

/**
 * Sends statements in order and returns their results. On a pool with pg's `pipeline` option they are
 * sent together, and the first error is thrown once all have finished.
 *
 * `Row` is the row type of the statements whose rows are read.
 */
export async function runInOrder<Row extends QueryResultRow = QueryResultRow>(
  client: PoolClient,
  statements: readonly QueryConfig[],
): Promise<QueryResult<Row>[]> {
  if (!client.pipeline) {
    const results: QueryResult<Row>[] = [];
    for (const statement of statements)
      results.push(await client.query<Row>(withQueryLimit(statement, STATEMENT_LIMIT_MS)));
    return results;
  }
  const settled = await Promise.allSettled(send<Row>(client, statements));
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/**
 * Sends statements in one write. The time limit of the last one covers all: when it expires, pg closes
 * the connection and all of them fail.
 */
function send<Row extends QueryResultRow>(
  client: PoolClient,
  statements: readonly QueryConfig[],
): Promise<QueryResult<Row>>[] {
  const { stream } = client.connection;
  const last = statements.length - 1;
  stream.cork();
  try {
    return statements.map((statement, index) =>
      client.query<Row>(index === last ? withQueryLimit(statement, STATEMENT_LIMIT_MS) : statement),
    );
  } finally {
    stream.uncork();
  }
}

/** Returns the error that makes the connection unusable, if any. */
async function rollBack(client: PoolClient, error: unknown): Promise<Error | undefined> {
  // Only a response from PostgreSQL leaves the connection in a known state.
  if (!(error instanceof pg.DatabaseError)) {
    return error instanceof Error ? error : new Error('unknown failure', { cause: error });
  }
  try {
    await client.query(withQueryLimit({ text: 'ROLLBACK' }, STATEMENT_LIMIT_MS));
    return undefined;
  } catch (rollbackError) {
    return new Error('the transaction could not be rolled back', { cause: rollbackError });
  }
}
