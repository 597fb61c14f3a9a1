import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Counter } from 'prom-client';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Database } from '../../platform/database/database.js';
import { messageOf } from '../../platform/errors/thrown.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';

const SWEEP_INTERVAL_MS = 60_000;
/** Rows per DELETE, to keep locks short. */
const MAX_STATEMENTS = 50;
const MAX_ROWS = 200;
/** Deletes down to this share of the limit, so that not every sweep has to delete. */
const TARGET = 0.95;
/** Advisory lock: one instance deletes at a time. The number is arbitrary. */
const LOCK_ID = 7_264_019_550;

const RESPONSE_BYTES = `(pg_column_size(input_items) + pg_column_size(output_items)
  + pg_column_size(response) + 400)::bigint`;
const ITEM_BYTES = `(pg_column_size(item) + 150)::bigint`;
/** Size without items. Metadata dominates for many empty conversations. */
const CONVERSATION_BYTES = `(pg_column_size(metadata) + 250)::bigint`;

const MEASURE = `
  SELECT tenant_id AS "tenantId", sum(bytes)::bigint AS bytes FROM (
    SELECT tenant_id, ${RESPONSE_BYTES} AS bytes FROM stored_responses
    UNION ALL
    SELECT tenant_id, ${CONVERSATION_BYTES} FROM conversations
    UNION ALL
    SELECT tenant_id, ${ITEM_BYTES}
      FROM conversation_items JOIN conversations ON conversations.id = conversation_id
  ) AS kept GROUP BY tenant_id`;

/** Deletes up to $2 of tenant $1's oldest rows until $3 bytes are reached. */
const DELETE_OLDEST = `
  WITH candidates AS (
    (SELECT 'response' AS kind, id, created_at AS at, ${RESPONSE_BYTES} AS bytes
       FROM stored_responses WHERE tenant_id = $1 ORDER BY created_at, id LIMIT $2)
    UNION ALL
    (SELECT 'conversation', id, used_at, ${CONVERSATION_BYTES} + (
         SELECT coalesce(sum(${ITEM_BYTES}), 0)::bigint FROM conversation_items
          WHERE conversation_id = conversations.id)
       FROM conversations WHERE tenant_id = $1 ORDER BY used_at, id LIMIT $2)
  ), oldest AS (
    SELECT kind, id, bytes
      FROM (SELECT *, sum(bytes) OVER (ORDER BY at, id) - bytes AS before FROM candidates) AS summed
     WHERE before < $3
  ), responses AS (
    DELETE FROM stored_responses USING oldest
     WHERE kind = 'response' AND stored_responses.id = oldest.id
  ), emptied AS (
    DELETE FROM conversations USING oldest
     WHERE kind = 'conversation' AND conversations.id = oldest.id
  ), items AS (
    DELETE FROM conversation_items USING oldest
     WHERE kind = 'conversation' AND conversation_id = oldest.id
  )
  SELECT count(*) AS deleted, coalesce(sum(bytes), 0)::bigint AS bytes FROM oldest`;

interface Share {
  readonly tenantId: string;
  bytes: number;
}

/**
 * Bounds the total size of stored responses and conversations, so that no tenant fills the
 * database. Deletes the oldest rows of the tenant that uses most.
 */
@Injectable()
export class StoredContentLimit implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(StoredContentLimit.name);
  private readonly timer = new SweepTimer(
    () => this.sweepNow(),
    (error) => this.logger.warn(`stored response measurement failed: ${messageOf(error)}`),
  );
  private readonly deleted: Counter;
  /** Table size at which the content was within the limit. */
  private harmlessBytes = 0;

  constructor(
    private readonly database: Database,
    metrics: GatewayMetrics,
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'storedContentMaxBytes'>,
  ) {
    this.deleted = new Counter({
      name: 'gateway_stored_content_deleted_total',
      help: 'Stored responses and conversations deleted to stay within the size limit.',
      registers: [metrics.registry],
    });
  }

  onApplicationBootstrap(): void {
    this.timer.startLater(SWEEP_INTERVAL_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** @returns the number of deleted responses and conversations */
  async sweepNow(): Promise<number> {
    const { storedContentMaxBytes: limit } = this.config;
    const tableBytes = await this.tableBytes();
    // Measuring content reads every row, so skip it while the tables are small. Deletes don't
    // shrink tables.
    if (tableBytes <= Math.max(limit, this.harmlessBytes)) return 0;
    const deleted = await this.database.transaction((client) => this.deleteBeyond(limit, client));
    if (deleted === 0) this.harmlessBytes = tableBytes * 1.01;
    if (!deleted) return 0;
    this.deleted.inc(deleted);
    this.logger.warn(
      `${deleted} stored responses and conversations are deleted, the oldest of those tenants that have ` +
        `the most: all together may take ${limit} bytes (GATEWAY_STORED_CONTENT_MB)`,
    );
    return deleted;
  }

  private async tableBytes(): Promise<number> {
    const { rows } = await this.database.query<{ bytes: number }>(
      `SELECT pg_total_relation_size('stored_responses') + pg_total_relation_size('conversations')
         + pg_total_relation_size('conversation_items') AS bytes`,
    );
    return rows[0]!.bytes;
  }

  /** Returns undefined while another instance is deleting. */
  private async deleteBeyond(limit: number, client: PoolClient): Promise<number | undefined> {
    const lock = await client.query<{ isMine: boolean }>(
      'SELECT pg_try_advisory_xact_lock($1) AS "isMine"',
      [LOCK_ID],
    );
    if (!lock.rows[0]!.isMine) return undefined;
    const { rows: shares } = await client.query<Share>(MEASURE);
    let total = shares.reduce((sum, { bytes }) => sum + bytes, 0);
    let deleted = 0;
    if (total <= limit) return deleted;
    for (let count = 0; count < MAX_STATEMENTS && total > limit * TARGET; count++) {
      if (this.timer.isStopped) break;
      shares.sort((one, other) => other.bytes - one.bytes);
      const [largest, next] = shares;
      if (!largest) break;
      const excess = total - limit * TARGET;
      const ahead = largest.bytes - (next?.bytes ?? 0);
      const { rows } = await client.query<{ deleted: number; bytes: number }>(DELETE_OLDEST, [
        largest.tenantId,
        MAX_ROWS,
        Math.ceil(Math.min(excess, Math.max(ahead, excess / MAX_STATEMENTS))),
      ]);
      const gone = rows[0]!;
      if (gone.deleted === 0) break;
      deleted += gone.deleted;
      total -= gone.bytes;
      largest.bytes -= gone.bytes;
    }
    return deleted;
  }
}
