import { Injectable } from '@nestjs/common';
import { scopeIsLive } from '../access/scope.js';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { AuditLog } from '../audit/audit-log.js';
import { ResourceRepository } from '../resources/resource.repository.js';
import { Database } from '../../platform/database/database.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { ProviderCredentialEntity } from './provider-credential.entity.js';

/** How requests are spread among a tenant's accounts with one provider; null: it says nothing of it. */
export interface CredentialShare {
  weight: number | null;
  requestsPerMinute: number | null;
  /** Input and output together. */
  tokensPerMinute: number | null;
}

/** A stored account of a tenant's own with a provider, as requests need it. Its key never changes. */
export class ByokCredential {
  readonly id: string;
  readonly provider: string;
  /** Whether shared capacity may serve when this account does not. */
  readonly allowSharedFallback: boolean;
  /** The key whose requests it serves, with the keys below it; null: all of the tenant's. */
  readonly scopeKeyId: string | null;
  /** Undefined: it says nothing of how requests are spread. */
  readonly share: CredentialShare | undefined;
  readonly settings: Readonly<Record<string, string>>;
  /** The address that the key was stored for; null when it is bound to none. */
  readonly baseUrl: string | null;
  /** Private to the language, so that nothing that prints or serialises an object has it. */
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

  /** The key as it is stored, encrypted for the row's id. */
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

/** Tenants' own accounts with vendors, in the database; their keys are encrypted there. */
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
   * Returns the live credentials of many tenants, newest first, those of single keys after the
   * tenant's own. A tenant without any is left out.
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

  /** Notes when credentials were used last; of those that are gone nothing. */
  async recordUses(uses: ReadonlyMap<string, Date>): Promise<void> {
    // In the order of their ids, or two instances could wait for each other.
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
