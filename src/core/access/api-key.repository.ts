import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { QueryResult, QueryResultRow } from 'pg';
import { IsNull, Repository } from 'typeorm';
import { Database } from '../../platform/database/database.js';
import { toStoredText } from '../../platform/database/stored-text.js';
import { ApiKeyEntity } from './api-key.entity.js';
import type { ApiKeyType } from './caller.js';
import { hashApiKey } from './hash-api-key.js';
import { previewApiKey } from './preview-api-key.js';

/** A pool, or one connection inside a transaction. */
export interface SqlExecutor {
  query<Row extends QueryResultRow>(sql: string, values?: unknown[]): Promise<QueryResult<Row>>;
}

/** What the request path needs of a key. */
export interface ApiKeyLookup {
  hash: string;
  id: string;
  tenantId: string;
  type: ApiKeyType;
  rateLimitPerMinute: number;
  /** Credits in a month; null: no limit. */
  keySpendLimit: number | null;
  tenantSpendLimit: number | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
}

export interface ApiKeyDraft {
  tenantId: string;
  type: ApiKeyType;
  name: string;
  plaintext: string;
  rateLimitPerMinute: number;
  expiresAt: Date | null;
  /** Credits in a month; null or absent: no limit. */
  monthlySpendLimit?: number | null;
}

@Injectable()
export class ApiKeyRepository {
  constructor(
    @InjectRepository(ApiKeyEntity) private readonly keys: Repository<ApiKeyEntity>,
    private readonly database: Database,
  ) {}

  /** Reads many keys in one round trip; hashes are hex, unknown ones have no row. */
  async findByHashes(
    hashes: readonly string[],
    executor: SqlExecutor = this.database.lookUps,
  ): Promise<ApiKeyLookup[]> {
    const { rows } = await executor.query<ApiKeyLookup>(
      `SELECT encode(key_hash, 'hex') AS hash, api_keys.id, tenant_id AS "tenantId", type,
              rate_limit_per_minute AS "rateLimitPerMinute",
              api_keys.monthly_spend_limit AS "keySpendLimit",
              tenants.monthly_spend_limit AS "tenantSpendLimit",
              expires_at AS "expiresAt", revoked_at AS "revokedAt"
         FROM api_keys JOIN tenants ON tenants.id = tenant_id
        WHERE key_hash = ANY($1::bytea[])`,
      [hashes.map((hash) => Buffer.from(hash, 'hex'))],
    );
    return rows;
  }

  /** Newest first, revoked ones included. */
  listOfTenant(tenantId: string): Promise<ApiKeyEntity[]> {
    return this.keys.find({ where: { tenantId }, order: { createdAt: 'DESC', id: 'DESC' } });
  }

  findOfTenant(tenantId: string, id: string): Promise<ApiKeyEntity | null> {
    return this.keys.findOneBy({ tenantId, id });
  }

  /** @returns the new key's id; undefined when this very key is known already, whoever owns it. */
  async insert(
    draft: ApiKeyDraft,
    executor: SqlExecutor = this.database,
  ): Promise<string | undefined> {
    const { rows } = await executor.query<{ id: string }>(
      `INSERT INTO api_keys
         (tenant_id, type, name, key_hash, key_preview, rate_limit_per_minute, expires_at,
          monthly_spend_limit)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (key_hash) DO NOTHING
       RETURNING id`,
      [
        draft.tenantId,
        draft.type,
        toStoredText(draft.name),
        Buffer.from(hashApiKey(draft.plaintext), 'hex'),
        previewApiKey(draft.plaintext),
        draft.rateLimitPerMinute,
        draft.expiresAt,
        draft.monthlySpendLimit ?? null,
      ],
    );
    return rows[0]?.id;
  }

  /** Changes what is given; `expiresAt: null` clears the expiry. */
  async updateNameAndExpiry(
    tenantId: string,
    id: string,
    change: { name?: string; expiresAt?: Date | null },
  ): Promise<void> {
    await this.keys.update({ tenantId, id }, { ...change, updatedAt: () => 'now()' });
  }

  async updateRateLimit(
    id: string,
    rateLimitPerMinute: number,
    executor: SqlExecutor = this.database,
  ): Promise<void> {
    await executor.query(
      `UPDATE api_keys SET rate_limit_per_minute = $2, updated_at = now() WHERE id = $1`,
      [id, rateLimitPerMinute],
    );
  }

  /** A key that is revoked already keeps the time of its revocation. */
  async revoke(tenantId: string, id: string): Promise<void> {
    await this.keys.update(
      { tenantId, id, revokedAt: IsNull() },
      { revokedAt: () => 'now()', updatedAt: () => 'now()' },
    );
  }

  /** For the operator, who is no tenant: revokes by id alone. @returns whether the key exists. */
  async revokeById(id: string): Promise<boolean> {
    const key = await this.keys.findOneBy({ id });
    if (!key) return false;
    await this.revoke(key.tenantId, id);
    return true;
  }
}
