import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { fromStoredText } from '../../platform/database/stored-text.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { ActorKind } from '../access/author.js';
import { withTexts } from './audit-log.js';

/** A recorded change. */
export interface AuditLogRow {
  readonly id: number;
  readonly createdAt: Date;
  readonly actorKind: ActorKind;
  readonly actorId: string | null;
  readonly actorName: string;
  readonly tenantId: string | null;
  readonly action: string;
  readonly targetType: string;
  readonly targetId: string;
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  readonly requestId: string | null;
}

/** Filters; undefined ones match everything. */
export interface AuditLogFilters {
  readonly tenantId?: string | undefined;
  readonly actorKind?: ActorKind | undefined;
  readonly actorId?: string | undefined;
  readonly action?: string | undefined;
  readonly targetType?: string | undefined;
  readonly targetId?: string | undefined;
  readonly requestId?: string | undefined;
  /** Inclusive start and exclusive end. */
  readonly start?: Date | undefined;
  readonly end?: Date | undefined;
}

/** Rows per read of an export; a row has at most 32 KB. */
const BATCH_SIZE = 200;

const CONDITIONS: Record<keyof AuditLogFilters, string> = {
  tenantId: 'tenant_id =',
  actorKind: 'actor_kind =',
  actorId: 'actor_id =',
  action: 'action =',
  targetType: 'target_type =',
  targetId: 'target_id =',
  requestId: 'request_id =',
  start: 'created_at >=',
  end: 'created_at <',
};

/** Reads the audit log of one tenant or of all. */
@Injectable()
export class AuditLogReader {
  constructor(private readonly database: Database) {}

  /**
   * Returns rows newest first.
   *
   * @param after time and id of the last row of the previous page
   */
  async page(
    filters: AuditLogFilters,
    limit: number,
    after?: readonly [time: string | Date, id: string | number],
  ): Promise<AuditLogRow[]> {
    const values: unknown[] = [limit];
    const conditions = Object.entries(filters)
      .filter(([, value]) => value !== undefined)
      .map(
        ([name, value]) => `${CONDITIONS[name as keyof AuditLogFilters]} $${values.push(value)}`,
      );
    if (after) {
      const [time, id] = [values.push(after[0]), values.push(after[1])];
      conditions.push(`(created_at, id) < ($${time}::timestamptz, $${id}::bigint)`);
    }
    const { rows } = await this.database.query<AuditLogRow>(
      `SELECT id, created_at AS "createdAt", actor_kind AS "actorKind", actor_id AS "actorId",
              actor_name AS "actorName", tenant_id AS "tenantId", action,
              target_type AS "targetType", target_id AS "targetId", before, after,
              request_id AS "requestId"
         FROM audit_log ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
        ORDER BY created_at DESC, id DESC LIMIT $1`,
      values,
    );
    return rows.map(readable);
  }

  /** Yields all matching rows newest first, in batches. Excludes rows added meanwhile. */
  async *batches(filters: AuditLogFilters): AsyncGenerator<AuditLogRow[]> {
    let after: [Date, number] | undefined;
    for (;;) {
      const rows = await this.page(filters, BATCH_SIZE, after);
      if (rows.length > 0) yield rows;
      const last = rows.at(-1);
      if (!last || rows.length < BATCH_SIZE) return;
      after = [last.createdAt, last.id];
    }
  }
}

function readable(row: AuditLogRow): AuditLogRow {
  return {
    ...row,
    actorName: fromStoredText(row.actorName),
    targetId: fromStoredText(row.targetId),
    before: row.before && withTexts(row.before, fromStoredText),
    after: row.after && withTexts(row.after, fromStoredText),
  };
}
