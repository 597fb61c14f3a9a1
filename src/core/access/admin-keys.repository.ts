import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { hashApiKey, previewApiKey } from './api-key.js';
import type { OperatorRole } from '../people/roles.js';

/** A key of an operator. Of the key itself only a SHA-256 and a preview are kept. */
export interface AdminKey {
  readonly id: string;
  readonly name: string;
  readonly preview: string;
  readonly role: OperatorRole;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
}

export interface AdminKeyDraft {
  readonly name: string;
  readonly plaintext: string;
  readonly role: OperatorRole;
  readonly expiresAt: Date | null;
}

const COLUMNS = `id, name, key_preview AS preview, role, created_at AS "createdAt",
  expires_at AS "expiresAt", revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"`;

/** The operators' keys in the database; of a key itself only its hash and a preview are kept. */
@Injectable()
export class AdminKeyRepository {
  constructor(private readonly database: Database) {}

  /** @returns undefined when this very key is known already */
  async insert(draft: AdminKeyDraft, executor: SqlExecutor): Promise<AdminKey | undefined> {
    const { rows } = await executor.query<AdminKey>(
      `INSERT INTO admin_keys (name, key_hash, key_preview, role, expires_at)
       VALUES ($1, decode($2, 'hex'), $3, $4, $5) ON CONFLICT (key_hash) DO NOTHING
       RETURNING ${COLUMNS}`,
      [
        toStoredText(draft.name),
        hashApiKey(draft.plaintext),
        previewApiKey(draft.plaintext),
        draft.role,
        draft.expiresAt,
      ],
    );
    return rows.map(readable)[0];
  }

  /** By hash in hex; unknown ones are left out. */
  async findByHashes(
    hashes: readonly string[],
    executor: SqlExecutor = this.database.lookUps,
  ): Promise<Map<string, AdminKey>> {
    const { rows } = await executor.query<AdminKey & { hash: string }>(
      `SELECT encode(key_hash, 'hex') AS hash, ${COLUMNS} FROM admin_keys
        WHERE key_hash = ANY ($1::bytea[])`,
      [hashes.map((hash) => Buffer.from(hash, 'hex'))],
    );
    return new Map(rows.map((row) => [row.hash, readable(row)]));
  }

  /** Newest first. @param after behind this creation time and id */
  async page(limit: number, after?: readonly string[]): Promise<AdminKey[]> {
    const { rows } = await this.database.query<AdminKey>(
      `SELECT ${COLUMNS} FROM admin_keys
        WHERE $2::timestamptz IS NULL OR (created_at, id) < ($2, $3::uuid)
        ORDER BY created_at DESC, id DESC LIMIT $1`,
      [limit, after?.[0], after?.[1]],
    );
    return rows.map(readable);
  }

  async findById(id: string, executor: SqlExecutor = this.database): Promise<AdminKey | undefined> {
    const { rows } = await executor.query<AdminKey>(
      `SELECT ${COLUMNS} FROM admin_keys WHERE id = $1`,
      [id],
    );
    return rows.map(readable)[0];
  }

  /** Locks the keys that open everything until the end of the transaction, so that not all of them go at once. */
  async lockActiveAdmins(transaction: SqlExecutor): Promise<string[]> {
    const { rows } = await transaction.query<{ id: string }>(
      `SELECT id FROM admin_keys
        WHERE role = 'admin' AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
        ORDER BY id FOR UPDATE`,
    );
    return rows.map(({ id }) => id);
  }

  /** @returns the key; undefined when there is none that is not revoked already */
  async revoke(id: string, executor: SqlExecutor): Promise<AdminKey | undefined> {
    const { rows } = await executor.query<AdminKey>(
      `UPDATE admin_keys SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL
       RETURNING ${COLUMNS}`,
      [id],
    );
    return rows.map(readable)[0];
  }

  /** Whether there ever was a key. */
  async areThereAny(executor: SqlExecutor): Promise<boolean> {
    const { rows } = await executor.query('SELECT FROM admin_keys LIMIT 1');
    return rows.length > 0;
  }

  /** Notes that a key is used now; most calls of a minute change nothing. */
  async noteUse(id: string): Promise<void> {
    await this.database.query(
      `UPDATE admin_keys SET last_used_at = now()
        WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
      [id],
    );
  }
}

function readable<Row extends AdminKey>(row: Row): Row {
  return { ...row, name: fromStoredText(row.name) };
}

/** What the audit log has of a key. */
export function auditedAdminKey(key: AdminKey): JsonObject {
  return {
    name: key.name,
    key_preview: key.preview,
    role: key.role,
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}
