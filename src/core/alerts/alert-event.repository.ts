import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { fromStoredText } from '../../platform/database/stored-text.js';
import { DeliveryRows, later } from '../../platform/outbound/delivery-rows.js';
import { scopeIsLive } from '../access/scope.js';
import type { AlertEvent, AlertFormat, AlertOwner } from './alert.js';

/** An event taken for a delivery attempt; the last two are null when its rule or the rule's key is gone. */
export interface TakenAlert extends AlertEvent {
  readonly tenantId: string | null;
  readonly format: AlertFormat | null;
  readonly encryptedUrl: Buffer | null;
}

/** Position in the list order; lists continue before it. */
export interface EventPosition {
  readonly createdAt: Date;
  readonly id: string;
}

export interface EventFilters {
  readonly ruleId?: string;
  readonly before?: EventPosition;
  readonly limit: number;
}

/** Reads tenant names at display time, so that events do not store them. */
const EVENT = `
  event.id, event.rule_id AS "ruleId", event.rule_name AS "ruleName", event.kind, event.status,
  event.subject, event.threshold, event.period, event.detail, event.created_at AS "createdAt",
  event.state, event.attempts, event.last_error AS "lastError", event.finished_at AS "finishedAt",
  watched.name AS "tenantName"`;
const NAMED = `
  LEFT JOIN tenants watched
    ON event.tenant_id IS NULL AND watched.id = (event.detail->>'tenant_id')::uuid`;

/** Stores alert events and the state of their deliveries. */
@Injectable()
export class AlertEventRepository extends DeliveryRows {
  constructor(database: Database) {
    super(database, 'alert_events');
  }

  /** Returns events, newest first. */
  async list(owner: AlertOwner, { ruleId, before, limit }: EventFilters): Promise<AlertEvent[]> {
    const { rows } = await this.database.query<AlertEvent>(
      `SELECT ${EVENT} FROM alert_events event ${NAMED}
        WHERE ${owner === null ? 'event.tenant_id IS NULL AND $1::uuid IS NULL' : 'event.tenant_id = $1::uuid'}
          AND ($2::uuid IS NULL OR event.rule_id = $2)
          AND ($3::timestamptz IS NULL OR (event.created_at, event.id) < ($3, $4::uuid))
        ORDER BY event.created_at DESC, event.id DESC LIMIT $5`,
      [owner, ruleId ?? null, before?.createdAt ?? null, before?.id ?? null, limit],
    );
    return rows.map(toEvent);
  }

  /** Leases an event; undefined when it is leased, not due or finished. */
  async take(id: string, leaseMs: number): Promise<TakenAlert | undefined> {
    const { rows } = await this.database.query<TakenAlert>(
      `WITH event AS (
         UPDATE alert_events
            SET attempts = attempts + 1, next_attempt_at = ${later('$2')}, woken_at = ${later('$2')}
          WHERE id = $1 AND state = 'pending' AND next_attempt_at <= now()
          RETURNING *
       )
       SELECT ${EVENT}, event.tenant_id AS "tenantId", rule.format, rule.sealed_url AS "encryptedUrl"
         FROM event ${NAMED} LEFT JOIN alert_rules rule
           ON rule.id = event.rule_id AND ${scopeIsLive('rule.scope_key_id')}`,
      [id, leaseMs],
    );
    return rows[0] && toEvent(rows[0]);
  }

  /** Deletes finished events that are no longer needed to prevent repetitions, at most `limit`. */
  async deleteBefore(instant: Date, limit: number): Promise<number> {
    const { rowCount } = await this.database.query(
      `DELETE FROM alert_events WHERE id IN (
         SELECT id FROM alert_events
          WHERE state <> 'pending' AND finished_at < $1 AND NOT is_open AND period <> 'total'
          LIMIT $2 FOR UPDATE SKIP LOCKED
       )`,
      [instant, limit],
    );
    return rowCount ?? 0;
  }
}

function toEvent<Event extends AlertEvent>(row: Event): Event {
  const tenantName = row.tenantName === null ? null : fromStoredText(row.tenantName);
  return { ...row, ruleName: fromStoredText(row.ruleName), tenantName };
}
