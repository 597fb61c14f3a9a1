import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { fromStoredText } from '../../platform/database/stored-text.js';
import { Database } from '../../platform/database/database.js';
import { Retention } from '../../platform/time/retention.js';
import type { GuardrailTrigger } from './guardrail-trigger.log.js';

const MAX_ROWS = 5_000;

export interface GuardrailEvent extends GuardrailTrigger {
  readonly id: string;
}

export interface GuardrailSeriesQuery {
  readonly interval: 'day' | 'hour';
  readonly from: Date;
  readonly to: Date;
  /** A UUID; undefined for all guardrails. */
  readonly guardrailId: string | undefined;
}

export interface GuardrailCount extends Pick<
  GuardrailTrigger,
  'guardrailId' | 'action' | 'direction'
> {
  /** Start of the day or hour. */
  readonly time: Date;
  readonly count: number;
}

/** Stores what guardrails found, without the text, for as long as log rows. */
@Injectable()
export class GuardrailEvents extends Retention {
  constructor(
    private readonly database: Database,
    @Inject(APP_CONFIG) config: Pick<AppConfig, 'logRetentionDays'>,
  ) {
    super('guardrail events', () => config.logRetentionDays);
  }

  /**
   * Returns a page of events, newest first.
   *
   * @param after time and id of the last event of the previous page
   * @param guardrailId a UUID; undefined for all guardrails
   */
  async page(
    tenantId: string,
    limit: number,
    after: readonly string[] | undefined,
    guardrailId: string | undefined,
  ): Promise<GuardrailEvent[]> {
    const { rows } = await this.database.query<GuardrailEvent>(
      `SELECT id::text, tenant_id AS "tenantId", guardrail_id AS "guardrailId",
         request_id AS "requestId", action, direction, created_at AS "createdAt"
       FROM guardrail_events
       WHERE tenant_id = $1 AND ($5::uuid IS NULL OR guardrail_id = $5)
         AND ($3::timestamptz IS NULL
              OR (created_at, id) < ($3, $4::bigint))
       ORDER BY created_at DESC, id DESC LIMIT $2`,
      [tenantId, limit, after?.[0] ?? null, after?.[1] ?? null, guardrailId ?? null],
    );
    return rows;
  }

  /**
   * Counts events by guardrail and day or hour (UTC). Omits empty periods.
   *
   * @param from inclusive
   * @param to exclusive
   */
  async series(
    tenantId: string,
    { interval, from, to, guardrailId }: GuardrailSeriesQuery,
  ): Promise<GuardrailCount[]> {
    const { rows } = await this.database.query<GuardrailCount>(
      `SELECT date_trunc($2, created_at, 'UTC') AS time, guardrail_id AS "guardrailId", action,
              direction, count(*)::float8 AS count
         FROM guardrail_events
        WHERE tenant_id = $1 AND created_at >= $3 AND created_at < $4
          AND ($5::uuid IS NULL OR guardrail_id = $5)
        GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
      [tenantId, interval, from, to, guardrailId ?? null],
    );
    return rows;
  }

  /**
   * Returns a request's events, oldest first.
   *
   * @param from arrival of the request
   * @param to its end; events are written slightly later
   */
  async ofRequest(
    tenantId: string,
    requestId: string,
    { from, to }: { from: Date; to: Date },
  ): Promise<(GuardrailEvent & { name: string | null })[]> {
    const { rows } = await this.database.query<GuardrailEvent & { name: string | null }>(
      `SELECT event.id::text, event.tenant_id AS "tenantId", guardrail_id AS "guardrailId", name,
         request_id AS "requestId", event.action, direction, event.created_at AS "createdAt"
       FROM guardrail_events AS event LEFT JOIN guardrails ON guardrails.id = guardrail_id
       WHERE event.tenant_id = $1 AND request_id = $2
         AND event.created_at BETWEEN $3::timestamptz - interval '1 minute'
           AND $4::timestamptz + interval '1 hour'
       ORDER BY event.created_at, event.id`,
      [tenantId, requestId, from, to],
    );
    return rows.map((row) => ({
      ...row,
      name: row.name === null ? null : fromStoredText(row.name),
    }));
  }

  protected sweepBefore(before: Date): Promise<number> {
    return this.inBatches(async () => {
      const { rowCount } = await this.database.query(
        `DELETE FROM guardrail_events WHERE id IN (
           SELECT id FROM guardrail_events WHERE created_at < $1 ORDER BY id LIMIT $2
           FOR UPDATE SKIP LOCKED
         )`,
        [before, MAX_ROWS],
      );
      return rowCount || undefined;
    });
  }
}
