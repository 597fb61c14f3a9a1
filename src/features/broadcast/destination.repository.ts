import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Maker } from '../../core/access/caller.js';
import { scopeHolds } from '../../core/access/key-rights.js';
import { SCOPE_COLUMNS, scopeIsLive, type ScopedRow } from '../../core/access/scope.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { ConflictError } from '../../platform/errors/gateway-errors.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import { HeaderEncryption } from './destination-headers.js';

type Stored = Omit<DestinationRecord, 'headers'> & { encryptedHeaders: Buffer };

const RECORD = `
  id, ${SCOPE_COLUMNS}, is_enabled AS "isEnabled", url, sealed_headers AS "encryptedHeaders",
  sampling_rate AS "samplingRate", includes_content AS "includesContent",
  delivered_count AS "deliveredCount", dropped_count AS "droppedCount",
  (SELECT count(*) FROM broadcast_deliveries WHERE destination_id = broadcast_destinations.id)
    AS "pendingCount",
  last_success_at AS "lastSuccessAt", last_error AS "lastError", last_error_at AS "lastErrorAt",
  created_at AS "createdAt", updated_at AS "updatedAt"`;

/** Stores destinations with their delivery counters. Headers are encrypted. */
@Injectable()
export class DestinationRepository {
  constructor(
    private readonly database: Database,
    private readonly headers: HeaderEncryption,
  ) {}

  /** Newest first. */
  async listOfTenant(tenantId: string): Promise<DestinationRecord[]> {
    const { rows } = await this.database.query<Stored>(
      `SELECT ${RECORD} FROM broadcast_destinations WHERE tenant_id = $1
        ORDER BY created_at DESC, id DESC`,
      [tenantId],
    );
    return rows.map((row) => this.toRecord(row));
  }

  async findOfTenant(tenantId: string, id: string): Promise<DestinationRecord | undefined> {
    return this.find(this.database, tenantId, id, '');
  }

  /** @returns undefined when the tenant already has `limit` destinations */
  async insert(
    transaction: SqlExecutor,
    tenantId: string,
    draft: DestinationDraft,
    { madeBy, scopeKeyId }: { madeBy: Maker; scopeKeyId: string | null },
    limit: number,
  ): Promise<DestinationRecord | undefined> {
    const id = randomUUID();
    // Serialized per tenant, so that two inserts cannot both take the last place.
    await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `broadcast_destinations/${tenantId}`,
    ]);
    const { rows } = await transaction.query<Stored>(
      `INSERT INTO broadcast_destinations
           (id, tenant_id, is_enabled, url, sealed_headers, sampling_rate, includes_content,
            made_by, scope_key_id)
         SELECT $1, $2, $3, $4, $5, $6, $7, $9, $10::uuid
          WHERE (SELECT count(*) FROM broadcast_destinations WHERE tenant_id = $2) < $8
         RETURNING ${RECORD}`,
      [
        id,
        tenantId,
        draft.isEnabled,
        toStoredText(draft.url),
        this.headers.encrypt(draft.headers, id),
        draft.samplingRate,
        draft.includesContent,
        limit,
        madeBy,
        scopeKeyId,
      ],
    );
    return rows[0] && this.toRecord(rows[0]);
  }

  async countOfTenant(tenantId: string): Promise<number> {
    const { rows } = await this.database.query<{ destinations: number }>(
      'SELECT count(*) AS destinations FROM broadcast_destinations WHERE tenant_id = $1',
      [tenantId],
    );
    return rows[0]!.destinations;
  }

  /**
   * Updates the given fields.
   * @param before the state the change was based on; a concurrent change makes it fail
   * @param dropsWaiting whether pending deliveries must not go to the new target
   * @returns the states before and after, and the number of dropped traces
   * @throws ConflictError
   */
  async update(
    transaction: SqlExecutor,
    tenantId: string,
    id: string,
    change: Partial<DestinationDraft>,
    {
      before,
      dropsWaiting,
    }: { before: Pick<DestinationDraft, 'url' | 'includesContent'>; dropsWaiting: boolean },
  ): Promise<{ was: DestinationRecord; record: DestinationRecord; dropped: number }> {
    const dropped = dropsWaiting ? await removeWaiting(transaction, tenantId, id) : 0;
    const was = await this.find(transaction, tenantId, id, 'FOR UPDATE');
    const { rows } = await transaction.query<Stored>(
      `UPDATE broadcast_destinations SET
           is_enabled = coalesce($3, is_enabled),
           url = coalesce($4, url),
           sealed_headers = coalesce($5, sealed_headers),
           sampling_rate = coalesce($6, sampling_rate),
           includes_content = coalesce($7, includes_content),
           dropped_count = dropped_count + $8,
           updated_at = now()
         WHERE tenant_id = $1 AND id = $2 AND url = $9 AND includes_content = $10
         RETURNING ${RECORD}`,
      [
        tenantId,
        id,
        change.isEnabled ?? null,
        change.url === undefined ? null : toStoredText(change.url),
        change.headers === undefined ? null : this.headers.encrypt(change.headers, id),
        change.samplingRate ?? null,
        change.includesContent ?? null,
        dropped,
        toStoredText(before.url),
        before.includesContent,
      ],
    );
    // Throwing rolls back the drop as well.
    if (!rows[0] || !was) throw changedMeanwhile();
    return { was, record: this.toRecord(rows[0]), dropped };
  }

  /**
   * Deletes a destination and its pending deliveries.
   * @returns its last state and the number of dropped traces; undefined when it does not exist
   */
  async delete(
    transaction: SqlExecutor,
    tenantId: string,
    id: string,
  ): Promise<{ was: DestinationRecord; dropped: number } | undefined> {
    const dropped = await removeWaiting(transaction, tenantId, id);
    const { rows } = await transaction.query<Stored>(
      `DELETE FROM broadcast_destinations WHERE tenant_id = $1 AND id = $2 RETURNING ${RECORD}`,
      [tenantId, id],
    );
    return rows[0] && { was: this.toRecord(rows[0]), dropped };
  }

  /** Returns enabled destinations that receive traces, by tenant. */
  async findChoices(tenantIds: readonly string[]): Promise<Map<string, DestinationChoice[]>> {
    const { rows } = await this.database.lookUps.query<DestinationChoice & { tenantId: string }>(
      `SELECT id, tenant_id AS "tenantId", sampling_rate AS "samplingRate",
              includes_content AND ${scopeHolds('content')} AS "includesContent", scope_key_id AS "scopeKeyId",
              coalesce(last_error_at > coalesce(last_success_at, '-infinity')
                AND last_error_at > now() - interval '2 minutes', false) AS "isFailing"
         FROM broadcast_destinations
        WHERE tenant_id = ANY($1) AND is_enabled AND sampling_rate > 0 AND ${scopeIsLive()}`,
      [tenantIds],
    );
    const choices = new Map<string, DestinationChoice[]>(tenantIds.map((id) => [id, []]));
    for (const { tenantId, ...choice } of rows) choices.get(tenantId)?.push(choice);
    return choices;
  }

  private async find(
    executor: SqlExecutor,
    tenantId: string,
    id: string,
    lock: '' | 'FOR UPDATE',
  ): Promise<DestinationRecord | undefined> {
    const { rows } = await executor.query<Stored>(
      `SELECT ${RECORD} FROM broadcast_destinations WHERE tenant_id = $1 AND id = $2 ${lock}`,
      [tenantId, id],
    );
    return rows[0] && this.toRecord(rows[0]);
  }

  private toRecord({ encryptedHeaders, ...row }: Stored): DestinationRecord {
    const headers = this.headers.decrypt(encryptedHeaders, row.id);
    const lastError = row.lastError === null ? null : fromStoredText(row.lastError);
    return { ...row, url: fromStoredText(row.url), headers, lastError };
  }
}

/**
 * Runs before the destination is locked, in the order in which deliveries complete, to avoid
 * deadlocks.
 * @returns the number of pending traces
 */
async function removeWaiting(
  transaction: SqlExecutor,
  tenantId: string,
  id: string,
): Promise<number> {
  const { rows } = await transaction.query<{ traces: number }>(
    `WITH gone AS (
       DELETE FROM broadcast_deliveries WHERE id IN (
         SELECT delivery.id FROM broadcast_deliveries delivery
           JOIN broadcast_destinations destination ON destination.id = destination_id
          WHERE destination_id = $2 AND tenant_id = $1
          ORDER BY delivery.id FOR UPDATE OF delivery
       ) RETURNING trace_count
     )
     SELECT coalesce(sum(trace_count), 0)::int AS traces FROM gone`,
    [tenantId, id],
  );
  return rows[0]!.traces;
}

function changedMeanwhile(): ConflictError {
  return new ConflictError(
    'id',
    'The destination was changed or deleted concurrently. Read it and try again.',
  );
}

/** Settings of a destination. */
interface DestinationDraft {
  isEnabled: boolean;
  url: string;
  /** Sent with each delivery. */
  headers: Readonly<Record<string, string>>;
  /** 0 to 1: share of traces to send, decided by trace id. */
  samplingRate: number;
  includesContent: boolean;
}

export interface DestinationRecord extends Omit<DestinationDraft, 'headers'>, ScopedRow {
  id: string;
  /** Undefined when they were encrypted with another secret. */
  headers: Readonly<Record<string, string>> | undefined;
  /** Traces. */
  deliveredCount: number;
  droppedCount: number;
  /** Pending deliveries; each is a batch of traces. */
  pendingCount: number;
  lastSuccessAt: Date | null;
  lastError: string | null;
  lastErrorAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** The fields that decide which traces a destination gets. */
export interface DestinationChoice extends Pick<
  DestinationRecord,
  'id' | 'samplingRate' | 'includesContent' | 'scopeKeyId'
> {
  /** Whether the most recent delivery failed. */
  isFailing: boolean;
}
