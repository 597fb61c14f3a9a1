import type { KeyRight } from './roles.js';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, Repository } from 'typeorm';
import type { Limits } from '../../canonical/limits.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { lookUpApiKeys, type ApiKeyLookup } from './api-key-lookup.js';
import { ApiKeyEntity, boundBy } from './api-key.entity.js';
import type { ApiKeyType, Maker } from './caller.js';
import { previewApiKey, hashApiKey } from './api-key.js';
import { makerRoleOf, withheldBy, type KeyBounds, type StoredBounds } from './key-rights.js';

/** A key in the audit log: everything but its hash and usage. */
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

/** Fields of a key that its tenant may change; undefined ones keep their value. */
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
  /** Credits per month; null or absent for no limit. */
  monthlySpendLimit?: number | null;
  limits?: Limits | null;
  /** `operator` by default. */
  madeBy?: Maker;
  /** Ancestors, nearest first; none by default. */
  ancestorIds?: string[];
  /** No bounds by default. */
  bounds?: KeyBounds;
}

/** Fields of a key that the operator may change; undefined ones keep their value. */
export interface ApiKeyChange {
  name?: string | undefined;
  expiresAt?: Date | null | undefined;
  rateLimitPerMinute?: number | undefined;
  monthlySpendLimit?: number | null | undefined;
}

/** Stores tenants' keys. Of a key itself, only its hash and a preview are stored. */
@Injectable()
export class ApiKeyRepository {
  constructor(
    @InjectRepository(ApiKeyEntity) private readonly keys: Repository<ApiKeyEntity>,
    private readonly database: Database,
  ) {}

  /** Reads many keys in one round trip by hash in hex; unknown hashes have no row. */
  findByHashes(
    hashes: readonly string[],
    executor: SqlExecutor = this.database.lookUps,
  ): Promise<ApiKeyLookup[]> {
    return lookUpApiKeys(executor, hashes);
  }

  /** Returns a tenant's keys newest first, revoked ones included, with the bounds of their ancestors applied. */
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
   * Returns a page of a tenant's keys, newest first, revoked ones included, with the bounds of their ancestors applied
   * and the cursor after each.
   *
   * @param behind cursor: a time with microseconds, and an id
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

  /** Returns a key with the bounds of its ancestors applied. */
  async findOfTenant(tenantId: string, id: string): Promise<ApiKeyEntity | null> {
    const key = await this.keys.findOneBy({ tenantId, id });
    if (!key || key.ancestorIds.length === 0) return key;
    return boundBy(key, await this.keys.findBy({ id: In(key.ancestorIds) }));
  }

  /** Returns the rights that keys currently lack, by key id. */
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

  /** Returns the keys' own monthly limits in credits; keys without one are left out. */
  async ownSpendLimits(ids: readonly string[]): Promise<{ id: string; limit: number }[]> {
    const keys = await this.keys.findBy({ id: In(ids) });
    return keys.flatMap(({ id, monthlySpendLimit: limit }) =>
      limit === null ? [] : { id, limit },
    );
  }

  /** Returns the ids of a key's descendants, which end with it. */
  async idsBelow(tenantId: string, id: string): Promise<string[]> {
    const { rows } = await this.database.query<{ id: string }>(
      `SELECT id FROM api_keys WHERE tenant_id = $1 AND $2 = ANY (ancestor_ids)`,
      [tenantId, id],
    );
    return rows.map((row) => row.id);
  }

  /** @returns the new key's id; undefined when the key exists, whichever tenant owns it */
  async insert(
    { plaintext, bounds, ...draft }: ApiKeyDraft,
    executor: SqlExecutor = this.database,
  ): Promise<string | undefined> {
    const keyHash = Buffer.from(hashApiKey(plaintext), 'hex');
    const keyPreview = previewApiKey(plaintext);
    const values = { madeBy: 'operator' as const, ...draft, ...bounds, keyHash, keyPreview };
    const { identifiers } = await this.within(executor)
      .createQueryBuilder()
      .insert()
      .values(values)
      .orIgnore()
      .execute();
    return identifiers[0]?.id as string | undefined;
  }

  /** Returns a key's audited fields and locks it until the end of the transaction. */
  async lockAudited(transaction: SqlExecutor, id: string): Promise<AuditedApiKey | undefined> {
    const lock = { mode: 'pessimistic_write' } as const;
    const key = await this.within(transaction).findOne({ where: { id }, lock });
    return (
      (key && {
        tenant_id: key.tenantId,
        name: key.name,
        type: key.type,
        key_preview: key.keyPreview,
        made_by: key.madeBy,
        rate_limit_per_minute: key.rateLimitPerMinute,
        monthly_spend_limit: key.monthlySpendLimit,
        limits: key.limits,
        expires_at: key.expiresAt,
        revoked_at: key.revokedAt,
        content_log: key.contentLog,
        withheld_rights: key.withheldRights,
      }) ??
      undefined
    );
  }

  /** Changes the given fields; null clears an expiry, limits, or the content log setting. */
  async updateNameAndExpiry(
    tenantId: string,
    id: string,
    { bounds, ...change }: KeyChange,
    executor: SqlExecutor = this.database,
  ): Promise<void> {
    await this.within(executor).update({ tenantId, id }, { ...change, ...bounds });
  }

  /** Changes the given fields of the key itself; null clears. */
  async changeWithin(transaction: SqlExecutor, id: string, change: ApiKeyChange): Promise<void> {
    await this.within(transaction).update({ id }, change);
  }

  async updateRateLimit(
    id: string,
    rateLimitPerMinute: number,
    executor: SqlExecutor = this.database,
  ): Promise<void> {
    await this.within(executor).update({ id }, { rateLimitPerMinute });
  }

  /** Revokes a key; one that is revoked already keeps its time. */
  async revoke(tenantId: string, id: string, executor: SqlExecutor = this.database): Promise<void> {
    const open = { tenantId, id, revokedAt: IsNull() };
    await this.within(executor).update(open, { revokedAt: () => 'now()' });
  }

  private within(executor: SqlExecutor): Repository<ApiKeyEntity> {
    return this.database.within(executor, this.keys);
  }
}
