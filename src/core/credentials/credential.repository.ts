import { Injectable } from '@nestjs/common';
import { scopeIsLive } from '../access/scope.js';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { AuditLog } from '../audit/audit-log.js';
import { ResourceRepository } from '../resources/resource.repository.js';
import { Database } from '../../platform/database/database.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { ProviderCredentialEntity } from './provider-credential.entity.js';

/** Balancing of requests over a tenant's accounts with one provider; null for the default. */
export interface CredentialShare {
  weight: number | null;
  requestsPerMinute: number | null;
  /** Input and output tokens. */
  tokensPerMinute: number | null;
}

/** A tenant's stored account with a provider. Its key never changes. */
export class ByokCredential {
  readonly id: string;
  readonly provider: string;
  /** True when shared capacity may be used when this account fails. */
  readonly allowSharedFallback: boolean;
  /** Key whose requests it serves, with the keys below it; null for all of the tenant's keys. */
  readonly scopeKeyId: string | null;
  /** Undefined when it sets no balancing. */
  readonly share: CredentialShare | undefined;
  readonly settings: Readonly<Record<string, string>>;
  /** Address that the key was stored for; null when it is bound to none. */
  readonly baseUrl: string | null;
  /** A `#private` field, so that it is never printed or serialized. */
  readonly #encryptedKey: Buffer;

  constructor(fields: {
    id: string;
    provider: string;
    allowSharedFallback: boolean;
    settings: Record<string, string>;
    encryptedKey: Buffer;
    scopeKeyId?: string | null;
    share?: CredentialShare;
    baseUrl?: string | null;
  }) {
    this.id = fields.id;
    this.provider = fields.provider;
    this.allowSharedFallback = fields.allowSharedFallback;
    this.scopeKeyId = fields.scopeKeyId ?? null;
    this.share = fields.share;
    this.settings = fields.settings;
    this.baseUrl = fields.baseUrl ?? null;
    this.#encryptedKey = fields.encryptedKey;
  }

  /** Returns the key encrypted for the row's id. */
  encryptedKey(): Buffer {
    return this.#encryptedKey;
  }
}

interface StoredCredential extends CredentialShare {
  id: string;
  tenantId: string;
  provider: string;
  encryptedKey: Buffer;
  settings: Record<string, string>;
  allowSharedFallback: boolean;
  scopeKeyId: string | null;
  baseUrl: string | null;
}

/** Stores tenants' BYOK accounts with encrypted keys. */
@Injectable()
export class CredentialRepository extends ResourceRepository<ProviderCredentialEntity> {
  protected readonly kind = {
    noun: 'provider credential',
    plural: 'credentials',
    param: 'provider-credentials',
    type: 'provider_credential',
  };

  constructor(
    @InjectRepository(ProviderCredentialEntity) credentials: Repository<ProviderCredentialEntity>,
    database: Database,
    audit: AuditLog,
  ) {
    super(credentials, database, audit);
  }

  /**
   * Returns the live credentials of many tenants, newest first, with key-scoped ones after tenant-wide ones.
   * Omits tenants without any.
   */
  async findByTenants(tenantIds: readonly string[]): Promise<Map<string, ByokCredential[]>> {
    const { rows } = await this.database.lookUps.query<StoredCredential>(
      `SELECT id, tenant_id AS "tenantId", provider, sealed_key AS "encryptedKey", settings,
              allow_shared_fallback AS "allowSharedFallback",
              scope_key_id AS "scopeKeyId", base_url AS "baseUrl", weight, requests_per_minute AS "requestsPerMinute",
              tokens_per_minute AS "tokensPerMinute"
         FROM provider_credentials
        WHERE tenant_id = ANY($1) AND ${scopeIsLive()}
        ORDER BY scope_key_id IS NOT NULL, created_at DESC, id DESC`,
      [tenantIds],
    );
    const byTenant = new Map<string, ByokCredential[]>();
    for (const { tenantId, ...row } of rows) {
      const ofTenant = byTenant.get(tenantId) ?? [];
      const { weight, requestsPerMinute, tokensPerMinute } = row;
      const isShare = (weight ?? requestsPerMinute ?? tokensPerMinute) !== null;
      const share = { weight, requestsPerMinute, tokensPerMinute };
      ofTenant.push(new ByokCredential({ ...row, ...(isShare && { share }) }));
      byTenant.set(tenantId, ofTenant);
    }
    return byTenant;
  }

  /** Records when credentials were last used; ignores deleted ones. */
  async recordUses(uses: ReadonlyMap<string, Date>): Promise<void> {
    // Sorted by id, so that two instances cannot deadlock.
    await this.database.query(
      `WITH used AS (
         SELECT * FROM unnest($1::uuid[], $2::timestamptz[]) AS used (id, at)
       ), locked AS (
         SELECT id FROM provider_credentials WHERE id IN (SELECT id FROM used)
          ORDER BY id FOR UPDATE
       )
       UPDATE provider_credentials SET last_used_at = greatest(last_used_at, used.at)
         FROM used JOIN locked ON locked.id = used.id
        WHERE provider_credentials.id = used.id`,
      [[...uses.keys()], [...uses.values()]],
    );
  }

  protected toAudited(row: ProviderCredentialEntity): JsonObject {
    return {
      provider: row.provider,
      name: row.name,
      key_preview: row.keyPreview,
      settings: row.settings,
      allow_shared_fallback: row.allowSharedFallback,
      weight: row.weight,
      requests_per_minute: row.requestsPerMinute,
      tokens_per_minute: row.tokensPerMinute,
    };
  }
}
