import type { KeyRight } from '../people/roles.js';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import type { Limits } from '../../canonical/limits.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import { lookUpApiKeys, type ApiKeyLookup } from './api-key-lookup.js';
import { ApiKeyEntity, boundBy } from './api-key.entity.js';
import type { ApiKeyType, Maker } from './caller.js';
import { previewApiKey, hashApiKey } from './api-key.js';
import { makerRoleOf, withheldBy, type KeyBounds, type StoredBounds } from './key-rights.js';

/** A key as the audit log shows it: all but its hash and its use. */
export interface AuditedApiKey {
  tenant_id: string;
  name: string;
  type: ApiKeyType;
  key_preview: string;
  made_by: Maker;
  rate_limit_per_minute: number;
  monthly_spend_limit: number | null;
  limits: Limits | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  content_log: boolean | null;
  withheld_rights: KeyRight[];
}

/** What of a key its tenant may change. */
export interface KeyChange {
  name?: string | undefined;
  expiresAt?: Date | null | undefined;
  limits?: Limits | null | undefined;
  contentLog?: boolean | null | undefined;
  bounds?: KeyBounds | undefined;
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
  limits?: Limits | null;
  /** The operator, unless said otherwise. */
  madeBy?: Maker;
  /** The keys above it, nearest first; none, unless said otherwise. */
  ancestorIds?: readonly string[];
  /** None, unless said otherwise. */
  bounds?: KeyBounds;
}

/** What the operator may change of a key; undefined: it stays. */
export interface ApiKeyChange {
  name?: string | undefined;
  expiresAt?: Date | null | undefined;
  rateLimitPerMinute?: number | undefined;
  monthlySpendLimit?: number | null | undefined;
}

/** Tenants' keys in the database; of a key itself only its hash and a preview are kept. */
@Injectable()
export class ApiKeyRepository {
  constructor(
    @InjectRepository(ApiKeyEntity) private readonly keys: Repository<ApiKeyEntity>,
    private readonly database: Database,
  ) {}

  /** Reads many keys in one round trip; hashes are hex, unknown ones have no row. */
  findByHashes(
    hashes: readonly string[],
    executor: SqlExecutor = this.database.lookUps,
  ): Promise<ApiKeyLookup[]> {
    return lookUpApiKeys(executor, hashes);
  }

  /** Newest first, revoked ones included, each bound by the keys above it. */
  async listOfTenant(tenantId: string): Promise<ApiKeyEntity[]> {
    const keys = await this.keys.find({
      where: { tenantId },
      order: { createdAt: 'DESC', id: 'DESC' },
    });
    const byId = new Map(keys.map((key) => [key.id, key]));
    return keys.map((key) =>
      boundBy(
        key,
        key.ancestorIds.flatMap((id) => byId.get(id) ?? []),
      ),
    );
  }

  /**
   * A page of a tenant's keys, newest first, revoked ones included, each bound by the keys above it and
   * with where the page behind it begins.
   *
   * @param behind a time to the microsecond, and an id
   */
  async pageOfTenant(
    tenantId: string,
    limit: number,
    behind: readonly string[] | undefined,
  ): Promise<{ key: ApiKeyEntity; place: string }[]> {
    const { rows } = await this.database.query<{ id: string; place: string }>(
      `SELECT id, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
         FROM api_keys
        WHERE tenant_id = $1 AND ($3::uuid IS NULL OR (created_at, id) < ($2::timestamptz, $3))
        ORDER BY created_at DESC, id DESC LIMIT $4`,
      [tenantId, behind?.[0] ?? null, behind?.[1] ?? null, limit],
    );
    const keys = await this.keys.findBy({ id: In(rows.map(({ id }) => id)) });
    const ancestorIds = keys.flatMap((key) => key.ancestorIds);
    const ancestors =
      ancestorIds.length === 0 ? [] : await this.keys.findBy({ id: In(ancestorIds) });
    const byId = new Map([...ancestors, ...keys].map((key) => [key.id, key]));
    return rows.flatMap(({ id, place }) => {
      const key = byId.get(id);
      if (!key) return [];
      const above = key.ancestorIds.flatMap((ancestorId) => byId.get(ancestorId) ?? []);
      return [{ key: boundBy(key, above), place }];
    });
  }

  /** The key as the keys above it let it be. */
  async findOfTenant(tenantId: string, id: string): Promise<ApiKeyEntity | null> {
    const key = await this.keys.findOneBy({ tenantId, id });
    if (!key || key.ancestorIds.length === 0) return key;
    return boundBy(key, await this.keys.findBy({ id: In(key.ancestorIds) }));
  }

  /** The rights that keys lack at present, by key. */
  async withheldFrom(ids: readonly string[]): Promise<Map<string, KeyRight[]>> {
    const { rows } = await this.database.query<{ id: string; chain: StoredBounds[] }>(
      `SELECT key.id, json_agg(json_build_object('withheldRights', link.withheld_rights,
                'makerRole', ${makerRoleOf('link')},
                'isBoundByPerson', link.bound_by_person_id IS NOT NULL)) AS chain
         FROM api_keys key JOIN api_keys link
           ON link.id = key.id OR link.id = ANY (key.ancestor_ids)
        WHERE key.id = ANY ($1) GROUP BY key.id`,
      [ids],
    );
    return new Map(rows.map(({ id, chain }) => [id, withheldBy(chain)]));
  }

  /** Those of the keys that have a monthly limit of their own, in credits. */
  async ownSpendLimits(ids: readonly string[]): Promise<{ id: string; limit: number }[]> {
    const { rows } = await this.database.query<{ id: string; limit: number }>(
      `SELECT id, monthly_spend_limit AS "limit" FROM api_keys
        WHERE id = ANY ($1) AND monthly_spend_limit IS NOT NULL`,
      [ids],
    );
    return rows;
  }

  /** The keys that end with a key: those that it made, those that they made, and so on. */
  async idsBelow(tenantId: string, id: string): Promise<string[]> {
    const { rows } = await this.database.query<{ id: string }>(
      `SELECT id FROM api_keys WHERE tenant_id = $1 AND $2 = ANY (ancestor_ids)`,
      [tenantId, id],
    );
    return rows.map((row) => row.id);
  }

  /** @returns the new key's id; undefined when this very key is known already, whoever owns it. */
  async insert(
    draft: ApiKeyDraft,
    executor: SqlExecutor = this.database,
  ): Promise<string | undefined> {
    const { rows } = await executor.query<{ id: string }>(
      `INSERT INTO api_keys
         (tenant_id, type, name, key_hash, key_preview, rate_limit_per_minute, expires_at,
          monthly_spend_limit, made_by, ancestor_ids, limits, withheld_rights, bound_by_person_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
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
        draft.madeBy ?? 'operator',
        draft.ancestorIds ?? [],
        draft.limits ? JSON.stringify(draft.limits) : null,
        draft.bounds?.withheldRights ?? [],
        draft.bounds?.boundByPersonId ?? null,
      ],
    );
    return rows[0]?.id;
  }

  /** What the audit log has of a key, which is locked until the end of the transaction. */
  async lockAudited(transaction: SqlExecutor, id: string): Promise<AuditedApiKey | undefined> {
    const { rows } = await transaction.query<AuditedApiKey>(
      `SELECT tenant_id, name, type, key_preview, made_by, rate_limit_per_minute,
              monthly_spend_limit, limits, expires_at, revoked_at, content_log, withheld_rights
         FROM api_keys WHERE id = $1 FOR UPDATE`,
      [id],
    );
    return rows[0] && { ...rows[0], name: fromStoredText(rows[0].name) };
  }

  /** Changes what is given; null clears an expiry, limits, or the choice of what is kept. */
  async updateNameAndExpiry(
    tenantId: string,
    id: string,
    change: KeyChange,
    executor: SqlExecutor = this.database,
  ): Promise<void> {
    await executor.query(
      `UPDATE api_keys SET name = coalesce($3, name),
              expires_at = CASE WHEN $4 THEN $5 ELSE expires_at END,
              limits = CASE WHEN $6 THEN $7 ELSE limits END,
              content_log = CASE WHEN $8 THEN $9 ELSE content_log END,
              withheld_rights = coalesce($10, withheld_rights),
              bound_by_person_id = CASE WHEN $10 IS NULL THEN bound_by_person_id ELSE $11 END,
              updated_at = now()
        WHERE tenant_id = $1 AND id = $2`,
      [
        tenantId,
        id,
        change.name === undefined ? null : toStoredText(change.name),
        change.expiresAt !== undefined,
        change.expiresAt ?? null,
        change.limits !== undefined,
        change.limits ? JSON.stringify(change.limits) : null,
        change.contentLog !== undefined,
        change.contentLog ?? null,
        change.bounds?.withheldRights ?? null,
        change.bounds?.boundByPersonId ?? null,
      ],
    );
  }

  /** Changes what is given, of the key's own; null clears. Part of a transaction. */
  async changeWithin(transaction: SqlExecutor, id: string, change: ApiKeyChange): Promise<void> {
    const columns: Record<keyof ApiKeyChange, string> = {
      name: 'name',
      expiresAt: 'expires_at',
      rateLimitPerMinute: 'rate_limit_per_minute',
      monthlySpendLimit: 'monthly_spend_limit',
    };
    const { name, ...rest } = change;
    const given = Object.entries({
      ...rest,
      ...(name !== undefined && { name: toStoredText(name) }),
    }).filter(([, value]) => value !== undefined);
    const sets = given.map(([field], index) => {
      const column = columns[field as keyof ApiKeyChange];
      return `${column} = $${index + 2}`;
    });
    await transaction.query(
      `UPDATE api_keys SET ${[...sets, 'updated_at = now()'].join(', ')} WHERE id = $1`,
      [id, ...given.map(([, value]) => value)],
    );
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
  async revoke(tenantId: string, id: string, executor: SqlExecutor = this.database): Promise<void> {
    await executor.query(
      `UPDATE api_keys SET revoked_at = now(), updated_at = now()
        WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL`,
      [tenantId, id],
    );
  }
}
