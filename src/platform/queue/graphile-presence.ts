import { Logger } from '@nestjs/common';
import pg from 'pg';
import { toError } from '../errors/thrown.js';

const RECONNECT_AFTER_MS = 500;

/** Two-part advisory locks of this kind belong to the queue. */
export const PRESENCE_LOCK_CLASS = `hashtext('model-gateway queue')`;

/**
 * So that a machine that vanished is noticed as a killed process is: after half a minute, where the
 * default of most systems is two hours.
 */
const KEEP_ALIVE =
  '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4';

/** What the queue's tables announce with every new row. */
const NEW_ROWS = 'jobs:insert';

/**
 * One connection whose advisory locks say what this process is at work on. PostgreSQL drops them the
 * moment the process dies. After an outage of the database they are taken again. It also hears of new rows, so that a queue in which nothing has
 * happened yet needs no worker.
 */
export class GraphilePresence {
  private readonly logger = new Logger('WorkQueue');
  private readonly names = new Set<string>();
  private client: pg.Client | undefined;
  /** The connection that is used or being made; what an earlier one says late is of no interest. */
  private latest: pg.Client | undefined;
  private isFailing = false;
  private reconnecting: NodeJS.Timeout | undefined;
  private isStopped = false;

  /** @param onNewRows is told that there may be new rows in the queue */
  constructor(
    private readonly url: string,
    private readonly onNewRows: () => void,
  ) {}

  async start(): Promise<void> {
    const options = {
      connectionString: this.url,
      application_name: 'model-gateway queue presence',
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      // Keys that are worked on at the same time do not wait for each other's locks.
      pipeline: true,
      options: KEEP_ALIVE,
    };
    const client = new pg.Client(options);
    this.latest = client;
    client.on('error', () => this.reconnect(client));
    client.on('end', () => this.reconnect(client));
    client.on('notification', () => this.onNewRows());
    try {
      await client.connect();
      await client.query(`LISTEN "${NEW_ROWS}"`);
      for (const name of this.names) await lock(client, name);
      if (this.latest === client) this.client = client;
      this.isFailing = false;
    } catch (error) {
      this.reportFailure(toError(error));
      this.reconnect(client);
    }
    if (this.isStopped) await client.end().catch(() => undefined);
  }

  /**
   * Takes a name for this process, which must not have it yet; false when another process has it.
   * While the database cannot be asked it is taken without asking.
   */
  async take(name: string): Promise<boolean> {
    const { client } = this;
    this.names.add(name);
    if (!client) return true;
    const isTaken = await lock(client, name).catch(() => true);
    if (!isTaken) this.names.delete(name);
    return isTaken;
  }

  async release(name: string): Promise<void> {
    this.names.delete(name);
    await this.client
      ?.query(`SELECT pg_advisory_unlock(${PRESENCE_LOCK_CLASS}, hashtext($1))`, [name])
      .catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.reconnecting);
    const { client } = this;
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private reportFailure(error: Error): void {
    if (this.isFailing || this.isStopped) return;
    this.isFailing = true;
    this.logger.warn(`The queue's database cannot be reached (${error.message})`);
  }

  private reconnect(failed: pg.Client): void {
    if (this.latest !== failed) return;
    this.latest = undefined;
    this.client = undefined;
    if (this.isStopped) return;
    failed.end().catch(() => undefined);
    this.reconnecting = setTimeout(() => {
      void this.start();
    }, RECONNECT_AFTER_MS);
  }
}

async function lock(client: pg.Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    `SELECT pg_try_advisory_lock(${PRESENCE_LOCK_CLASS}, hashtext($1)) AS taken`,
    [name],
  );
  return rows[0]?.taken ?? false;
}
