import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import type { Caller } from '../../../core/access/caller.js';
import { Database } from '../../../platform/database/database.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { IS_FREE, LEASED, LeasedRows } from '../../../platform/durable-work/leased-rows.js';
import type { WorkDepth } from '../../../platform/durable-work/work-handler.js';
import type { ResolvedItems } from '../item-references.service.js';

export type BackgroundStatus = 'queued' | 'in_progress';

/** A background response to create. */
export interface NewBackgroundResponse {
  readonly id: string;
  readonly requestId: string;
  /** JSON of the initial response object. */
  readonly response: string;
  /** JSON as received. */
  readonly body: string;
  readonly context: ResolvedItems;
  readonly caller: Caller;
  readonly headers: Readonly<Record<string, string>>;
  readonly isFlagged: boolean;
  readonly credits: number;
  readonly createdAt: Date;
}

/** A claimed response. A newer claim invalidates this one. */
export interface BackgroundClaim extends NewBackgroundResponse {
  readonly leaseId: string;
  /** Number of starts, including this one. */
  readonly attempts: number;
  readonly isCancelled: boolean;
}

/** A background response as its tenant sees it. */
export interface BackgroundView {
  status: BackgroundStatus;
  response: JsonObject;
  /** Size of the body. */
  bytes: number;
}

const ROWS = new LeasedRows('background_responses', 'true');

/** Stores background responses until they end. */
@Injectable()
export class BackgroundResponsesRepository {
  readonly areLost = ROWS.areLost;

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

  /** Returns the JSON of the request body. */
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

  /** Returns undefined when the response has ended or is claimed. */
  async claim(id: string): Promise<BackgroundClaim | undefined> {
    const { rows } = await this.database.query<BackgroundClaim>(
      `UPDATE background_responses SET status = 'in_progress', attempts = attempts + 1,
         lease_id = $2, ${LEASED}
       WHERE id = $1 AND ${IS_FREE}
       RETURNING id, request_id AS "requestId", response, body, context::json AS context,
         caller::json AS caller, headers::json AS headers, flagged AS "isFlagged",
         coalesce((SELECT amount FROM holds WHERE holds.request_id = background_responses.request_id), 0)
           AS credits, created_at AS "createdAt", lease_id AS "leaseId", attempts,
         cancel_requested AS "isCancelled"`,
      [id, randomUUID()],
    );
    return rows[0];
  }

  /** Returns undefined when the response has ended or the claim was lost. */
  async renew({ id, leaseId }: BackgroundClaim): Promise<{ isCancelled: boolean } | undefined> {
    const { rows } = await this.database.query<{ isCancelled: boolean }>(
      `UPDATE background_responses SET ${LEASED}
       WHERE id = $1 AND lease_id = $2 RETURNING cancel_requested AS "isCancelled"`,
      [id, leaseId],
    );
    return rows[0];
  }

  /**
   * Releases responses. Others can claim them after the delay.
   * @param isTry whether these starts count as attempts
   */
  release(claims: readonly BackgroundClaim[], delayMs: number, isTry: boolean): Promise<void> {
    return ROWS.release(this.database, claims, delayMs, isTry ? '' : ', attempts = attempts - 1');
  }

  /** Returns the tenant's waiting responses, oldest first. */
  async findDue(tenantId: string, limit: number): Promise<string[]> {
    const { rows } = await this.database.query<{ id: string }>(
      `SELECT id FROM background_responses
       WHERE tenant_id = $1 AND ${IS_FREE} AND run_at <= now()
       ORDER BY created_at LIMIT $2`,
      [tenantId, limit],
    );
    return rows.map(({ id }) => id);
  }

  /** Returns the tenant; undefined when the response has ended or is claimed. */
  async findTenant(id: string): Promise<string | undefined> {
    const { rows } = await this.database.query<{ tenantId: string }>(
      `SELECT tenant_id AS "tenantId" FROM background_responses WHERE id = $1 AND ${IS_FREE}`,
      [id],
    );
    return rows[0]?.tenantId;
  }

  /** Returns false when the response has already ended. */
  async requestCancel(tenantId: string, id: string): Promise<boolean> {
    const { rowCount } = await this.database.query(
      `UPDATE background_responses SET cancel_requested = true WHERE id = $1 AND tenant_id = $2`,
      [id, tenantId],
    );
    return rowCount === 1;
  }

  takeLost(limit: number): Promise<string[]> {
    return ROWS.takeLost(this.database, limit);
  }

  depth(): Promise<WorkDepth> {
    return ROWS.depth(this.database.lookUps);
  }

  /** Ends a response that cannot be generated, and stores its failure. */
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
