import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import type { ContentKey } from './content-cipher.js';

/** One request's content, ready to be stored. */
export interface ContentRow {
  readonly requestId: string;
  readonly tenantId: string;
  readonly key: ContentKey;
  readonly recordedAt: Date;
  readonly body: Buffer;
  readonly excerpts: Buffer | null;
}

/** The same as it was stored, with its key. */
export interface StoredContent {
  readonly requestId: string;
  readonly recordedAt: Date;
  readonly keyId: string;
  readonly encryptedKey: Buffer;
  readonly body: Buffer;
  readonly excerpts: Buffer | null;
}

/** A tenant's choice; null: as the service's setting says. */
export interface ContentChoice {
  readonly enabled: boolean | null;
}

/** The tables of what was said; nobody else reads or writes them. */
@Injectable()
export class ContentRepository {
  constructor(private readonly database: Database) {}

  /**
   * Stores rows and the keys that they need. What its tenant had deleted after it was recorded is left
   * out, as are rows of requests that have theirs.
   */
  async insert(rows: readonly ContentRow[], wrap: (key: ContentKey) => Buffer): Promise<void> {
    const keys = [...new Set(rows.map(({ key }) => key))];
    await this.database.query(
      `WITH keys AS (
         INSERT INTO content_keys (id, tenant_id, day, sealed_key)
         SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::date[], $4::bytea[])
         ON CONFLICT (id) DO NOTHING
       )
       INSERT INTO request_contents
         (request_id, tenant_id, day, content_key_id, recorded_at, body, excerpts)
       SELECT request_id, tenant_id, day, content_key_id, recorded_at, body, excerpts
       FROM unnest($5::uuid[], $6::uuid[], $7::date[], $8::uuid[], $9::timestamptz[], $10::bytea[],
                   $11::bytea[])
         AS content (request_id, tenant_id, day, content_key_id, recorded_at, body, excerpts)
         JOIN tenants ON tenants.id = tenant_id
           AND recorded_at > coalesce(content_deleted_at, '-infinity')
       ON CONFLICT DO NOTHING`,
      [
        keys.map(({ id }) => id),
        keys.map(({ tenantId }) => tenantId),
        keys.map(({ day }) => day),
        keys.map(wrap),
        rows.map(({ requestId }) => requestId),
        rows.map(({ tenantId }) => tenantId),
        rows.map(({ key }) => key.day),
        rows.map(({ key }) => key.id),
        rows.map(({ recordedAt }) => recordedAt),
        rows.map(({ body }) => body),
        rows.map(({ excerpts }) => excerpts),
      ],
    );
  }

  /** @param requestIds UUIDs. @param since a day; older rows are not to be shown any more */
  async find(
    executor: SqlExecutor,
    tenantId: string,
    requestIds: readonly string[],
    since: string,
  ): Promise<StoredContent[]> {
    const { rows } = await executor.query<StoredContent>(
      `SELECT request_id AS "requestId", recorded_at AS "recordedAt", content_key_id AS "keyId",
         sealed_key AS "encryptedKey", body, excerpts
       FROM request_contents JOIN content_keys ON content_keys.id = content_key_id
       WHERE request_id = ANY ($2::uuid[]) AND request_contents.tenant_id = $1
         AND request_contents.day >= $3`,
      [tenantId, requestIds, since],
    );
    return rows;
  }

  /** @returns whether there was any */
  async delete(executor: SqlExecutor, tenantId: string, requestId: string): Promise<boolean> {
    const { rowCount } = await executor.query(
      'DELETE FROM request_contents WHERE tenant_id = $1 AND request_id = $2',
      [tenantId, requestId],
    );
    return (rowCount ?? 0) > 0;
  }

  /**
   * All of a tenant, and what is on its way here. Its keys stay until their day goes: another instance
   * may be about to use one.
   *
   * @returns of how many requests
   */
  async deleteAll(executor: SqlExecutor, tenantId: string): Promise<number> {
    await executor.query('UPDATE tenants SET content_deleted_at = now() WHERE id = $1', [tenantId]);
    const { rowCount } = await executor.query('DELETE FROM request_contents WHERE tenant_id = $1', [
      tenantId,
    ]);
    return rowCount ?? 0;
  }

  /** Undefined: there is no such tenant. The row stays locked until the transaction ends. */
  async lockChoice(transaction: SqlExecutor, tenantId: string): Promise<ContentChoice | undefined> {
    const { rows } = await transaction.query<ContentChoice>(
      'SELECT content_log AS enabled FROM tenants WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE',
      [tenantId],
    );
    return rows[0];
  }

  async readChoice(tenantId: string): Promise<ContentChoice | undefined> {
    const { rows } = await this.database.query<ContentChoice>(
      'SELECT content_log AS enabled FROM tenants WHERE id = $1 AND deleted_at IS NULL',
      [tenantId],
    );
    return rows[0];
  }

  async setChoice(
    transaction: SqlExecutor,
    tenantId: string,
    enabled: boolean | null,
  ): Promise<void> {
    await transaction.query('UPDATE tenants SET content_log = $2 WHERE id = $1', [
      tenantId,
      enabled,
    ]);
  }
}
