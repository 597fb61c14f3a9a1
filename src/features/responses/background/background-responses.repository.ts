import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import type { Caller } from '../../../core/access/caller.js';
import { Database } from '../../../platform/database/database.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import type { ResolvedItems } from '../item-references.service.js';

/** How long a worker that has died keeps others from its response. */
const LEASE_SECONDS = 15;

export type BackgroundStatus = 'queued' | 'in_progress';

/** A response that is to be made in the background. */
export interface NewBackgroundResponse {
  readonly id: string;
  readonly requestId: string;
  /** JSON of the response object, before anything of it is there. */
  readonly response: string;
  /** JSON, as it was received. */
  readonly body: string;
  readonly context: ResolvedItems;
  readonly caller: Caller;
  readonly headers: Readonly<Record<string, string>>;
  readonly isFlagged: boolean;
  readonly credits: number;
  readonly createdAt: Date;
}

/** One in the hands of a worker; whoever claims it later makes this claim void. */
export interface BackgroundClaim extends NewBackgroundResponse {
  readonly leaseId: string;
  /** How often it has been begun, this time included. */
  readonly attempts: number;
  readonly isCancelled: boolean;
}

/** What tenants see of one. */
export interface BackgroundView {
  status: BackgroundStatus;
  response: JsonObject;
  /** How long its body is. */
  bytes: number;
}

const IS_FREE = '(lease_until IS NULL OR lease_until < now())';
/** Wake-ups that are so late have got lost. */
const LOST_AFTER_SECONDS = 5;
const IS_LOST = `run_at < now() - make_interval(secs => ${LOST_AFTER_SECONDS}) AND ${IS_FREE}`;

/** Whether there are any for `takeLost`, in SQL. */
export const ARE_LOST = `EXISTS (SELECT FROM background_responses WHERE ${IS_LOST})`;

/** Responses that are being made in the background. Their rows go when they have ended. */
@Injectable()
export class BackgroundResponsesRepository {
  constructor(private readonly database: Database) {}

  async insert(client: PoolClient, one: NewBackgroundResponse): Promise<void> {
    await client.query(
      `INSERT INTO background_responses (
         id, tenant_id, request_id, response, body, context, caller, headers, flagged,
         reserved_credits, created_at
       ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        one.id,
        one.caller.tenantId,
        one.requestId,
        one.response,
        one.body,
        JSON.stringify(one.context),
        JSON.stringify(one.caller),
        JSON.stringify(one.headers),
        one.isFlagged,
        one.credits,
        one.createdAt,
      ],
    );
  }

  async find(tenantId: string, id: string): Promise<BackgroundView | undefined> {
    const { rows } = await this.database.query<BackgroundView>(
      `SELECT status, response::json AS response, octet_length(body) AS bytes FROM background_responses
       WHERE id = $1 AND tenant_id = $2`,
      [id, tenantId],
    );
    return rows[0];
  }

  /** The JSON of what was asked for. */
  async findBody(tenantId: string, id: string): Promise<string | undefined> {
    const { rows } = await this.database.query<{ body: string }>(
      'SELECT body FROM background_responses WHERE id = $1 AND tenant_id = $2',
      [id, tenantId],
    );
    return rows[0]?.body;
  }

  async has(id: string): Promise<boolean> {
    const { rowCount } = await this.database.query(
      'SELECT FROM background_responses WHERE id = $1',
      [id],
    );
    return rowCount === 1;
  }

  /** Undefined when it is over, or in other hands. */
  async claim(id: string): Promise<BackgroundClaim | undefined> {
    const { rows } = await this.database.query<BackgroundClaim>(
      `UPDATE background_responses SET status = 'in_progress', attempts = attempts + 1,
         lease_id = $2, lease_until = now() + make_interval(secs => $3)
       WHERE id = $1 AND ${IS_FREE}
       RETURNING id, request_id AS "requestId", response, body, context::json AS context,
         caller::json AS caller, headers::json AS headers, flagged AS "isFlagged",
         coalesce((SELECT amount FROM holds WHERE holds.request_id = background_responses.request_id), 0)
           AS credits, created_at AS "createdAt", lease_id AS "leaseId", attempts,
         cancel_requested AS "isCancelled"`,
      [id, randomUUID(), LEASE_SECONDS],
    );
    return rows[0];
  }

  /** Undefined when it has ended, or is in other hands. */
  async renew({ id, leaseId }: BackgroundClaim): Promise<{ isCancelled: boolean } | undefined> {
    const { rows } = await this.database.query<{ isCancelled: boolean }>(
      `UPDATE background_responses SET lease_until = now() + make_interval(secs => $3)
       WHERE id = $1 AND lease_id = $2 RETURNING cancel_requested AS "isCancelled"`,
      [id, leaseId, LEASE_SECONDS],
    );
    return rows[0];
  }

  /**
   * Lets others have it, after the delay.
   *
   * @param isTry whether it counts as one of the times that it was begun
   */
  async release(
    { id, leaseId }: BackgroundClaim,
    delayMs: number,
    { isTry }: { isTry: boolean },
  ): Promise<void> {
    await this.database.query(
      `UPDATE background_responses SET lease_id = NULL, lease_until = NULL,
         attempts = attempts - $4, run_at = now() + make_interval(secs => $3 / 1000.0)
       WHERE id = $1 AND lease_id = $2`,
      [id, leaseId, delayMs, isTry ? 0 : 1],
    );
  }

  /** The oldest of a tenant's that waits. */
  async findNext(tenantId: string): Promise<string | undefined> {
    const { rows } = await this.database.query<{ id: string }>(
      `SELECT id FROM background_responses
       WHERE tenant_id = $1 AND ${IS_FREE} AND run_at <= now()
       ORDER BY created_at LIMIT 1`,
      [tenantId],
    );
    return rows[0]?.id;
  }

  /** Whose it is; undefined when it is over. */
  async findTenant(id: string): Promise<string | undefined> {
    const { rows } = await this.database.query<{ tenantId: string }>(
      'SELECT tenant_id AS "tenantId" FROM background_responses WHERE id = $1',
      [id],
    );
    return rows[0]?.tenantId;
  }

  /** False when it has ended meanwhile. */
  async requestCancel(tenantId: string, id: string): Promise<boolean> {
    const { rowCount } = await this.database.query(
      `UPDATE background_responses SET cancel_requested = true WHERE id = $1 AND tenant_id = $2`,
      [id, tenantId],
    );
    return rowCount === 1;
  }

  /** Those whose wake-up is so late that it has got lost, or whose worker has died; they count as woken. */
  async takeLost(maxRows: number): Promise<string[]> {
    const { rows } = await this.database.query<{ id: string }>(
      `UPDATE background_responses SET run_at = now() WHERE id IN (
         SELECT id FROM background_responses
         WHERE ${IS_LOST}
         ORDER BY run_at LIMIT $1 FOR UPDATE SKIP LOCKED
       ) RETURNING id`,
      [maxRows],
    );
    return rows.map(({ id }) => id);
  }

  /** Ends one that cannot be answered any more, and keeps its response. */
  async giveUp(
    { id, caller, requestId, createdAt }: BackgroundClaim,
    failed: {
      model: string;
      input: string;
      response: string;
    },
  ): Promise<void> {
    await this.database.query(
      `WITH ended AS (DELETE FROM background_responses WHERE id = $1 RETURNING id)
       INSERT INTO stored_responses (
         id, tenant_id, request_id, conversation_id, model, status, input_items, output_items,
         response, context_bytes, created_at
       ) SELECT id, $2, $3, id, $4, 'failed', $5, '[]', $6, 0, $7 FROM ended`,
      [id, caller.tenantId, requestId, failed.model, failed.input, failed.response, createdAt],
    );
  }
}
