import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import type { ContentKey } from './content-cipher.js';

/** A request's content in the form to be stored. */
export interface ContentRow {
  readonly requestId: string;
  readonly tenantId: string;
  readonly key: ContentKey;
  readonly recordedAt: Date;
  readonly body: Buffer;
  readonly excerpts: Buffer | null;
}

/** Stored content with its key. */
export interface StoredContent {
  readonly requestId: string;
  readonly recordedAt: Date;
  readonly keyId: string;
  readonly encryptedKey: Buffer;
  readonly body: Buffer;
  readonly excerpts: Buffer | null;
}

/** A tenant's choice; null for the service's setting. */
export interface ContentChoice {
  readonly enabled: boolean | null;
}

/** Owns the content tables. */
@Injectable()
export class ContentRepository {
  constructor(private readonly database: Database) {}

  /**
   * Stores rows and their keys. Skips rows whose tenant deleted its content after they were
   * recorded, and requests that have a row.
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

  /**
   * @param requestIds UUIDs
   * @param since a day; older rows are hidden
   */
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

  /**
   * @returns whether there was any
   */
  async delete(executor: SqlExecutor, tenantId: string, requestId: string): Promise<boolean> {
    const { rowCount } = await executor.query(
      'DELETE FROM request_contents WHERE tenant_id = $1 AND request_id = $2',
      [tenantId, requestId],
    );
    return (rowCount ?? 0) > 0;
  }

  /**
   * Deletes all content of a tenant, pending content included. Its keys stay until their day is
   * dropped, since another instance may be about to use one.
   *
   * @returns the number of requests
   */
  async deleteAll(executor: SqlExecutor, tenantId: string): Promise<number> {
    await executor.query('UPDATE tenants SET content_deleted_at = now() WHERE id = $1', [tenantId]);
    const { rowCount } = await executor.query('DELETE FROM request_contents WHERE tenant_id = $1', [
      tenantId,
    ]);
    return rowCount ?? 0;
  }

  /** Returns undefined for an unknown tenant. Locks the row until the transaction ends. */
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
