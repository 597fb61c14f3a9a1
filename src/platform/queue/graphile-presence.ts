import { Logger } from '@nestjs/common';
import pg from 'pg';
import { toError } from '../errors/thrown.js';

const RECONNECT_AFTER_MS = 500;

/** Class of the two-part advisory locks that the queue uses. */
export const PRESENCE_LOCK_CLASS = `hashtext('model-gateway queue')`;

/** Detects a vanished machine after 30 s, like a killed process; most systems default to two hours. */
const KEEP_ALIVE =
  '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4';

/** The channel on which the queue's tables announce new rows. */
const NEW_ROWS = 'jobs:insert';

/**
 * Holds one connection whose advisory locks announce what this process works on. PostgreSQL drops them when
 * the process dies; after an outage they are taken again. The connection also listens for new rows, so that an
 * unused queue needs no worker.
 */
export class GraphilePresence {
  private readonly logger = new Logger('WorkQueue');
  private readonly names = new Set<string>();
  private client: pg.Client | undefined;
  /** The connection in use or being opened; late events of earlier ones are ignored. */
  private latest: pg.Client | undefined;
  private isFailing = false;
  private reconnecting: NodeJS.Timeout | undefined;
  private isStopped = false;

  /** @param onNewRows called when the queue may have new rows */
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
      // Locks of different keys do not wait for each other.
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
   * Takes a name for this process, which must not hold it yet. Returns false when another process holds it.
   * Takes it without a query while the database is unavailable.
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
    this.logger.warn(`The queue cannot connect to its database (${error.message})`);
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
