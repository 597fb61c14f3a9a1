import { Injectable } from '@nestjs/common';
import type { Maker } from '../access/caller.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';

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
  /** Whether shared capacity may be used when this account fails. */
  readonly allowSharedFallback: boolean;
  /** Sorted after all other credentials of the tenant. */
  readonly isOfRoutingKey: boolean;
  /** Undefined without balancing settings. */
  readonly share: CredentialShare | undefined;
  readonly settings: Readonly<Record<string, string>>;
  /** A private field, so that printing or serializing cannot reveal it. */
  readonly #encryptedKey: Buffer;

  constructor(fields: {
    id: string;
    provider: string;
    allowSharedFallback: boolean;
    settings: Record<string, string>;
    encryptedKey: Buffer;
    isOfRoutingKey?: boolean;
    share?: CredentialShare;
  }) {
    this.id = fields.id;
    this.provider = fields.provider;
    this.allowSharedFallback = fields.allowSharedFallback;
    this.isOfRoutingKey = fields.isOfRoutingKey ?? false;
    this.share = fields.share;
    this.settings = fields.settings;
    this.#encryptedKey = fields.encryptedKey;
  }

  /** Returns the key encrypted for the row's id. */
  encryptedKey(): Buffer {
    return this.#encryptedKey;
  }
}

/** A credential to be stored. */
interface CredentialDraft extends CredentialShare {
  /** Chosen before encryption, which binds the key to this id. */
  id: string;
  provider: string;
  name: string | null;
  encryptedKey: Buffer;
  keyPreview: string;
  settings: Record<string, string>;
  allowSharedFallback: boolean;
  madeBy: Maker;
}

/** A credential as its tenant sees it, without the key. */
export interface CredentialRecord extends CredentialShare {
  id: string;
  provider: string;
  name: string | null;
  keyPreview: string;
  settings: Record<string, string>;
  allowSharedFallback: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
  madeBy: Maker;
}

interface StoredCredential extends CredentialShare {
  id: string;
  tenantId: string;
  provider: string;
  encryptedKey: Buffer;
  settings: Record<string, string>;
  allowSharedFallback: boolean;
  isOfRoutingKey: boolean;
}

const SHARE = `
  weight, requests_per_minute AS "requestsPerMinute", tokens_per_minute AS "tokensPerMinute"`;
const RECORD = `
  id, provider, name, key_preview AS "keyPreview", settings,
  allow_shared_fallback AS "allowSharedFallback", created_at AS "createdAt",
  last_used_at AS "lastUsedAt", made_by AS "madeBy", ${SHARE}`;

/** Stores tenants' BYOK accounts with encrypted keys. */
@Injectable()
export class CredentialRepository {
  constructor(private readonly database: Database) {}

  /** Returns credentials newest first. */
  async listOfTenant(tenantId: string): Promise<CredentialRecord[]> {
    const { rows } = await this.database.query<CredentialRecord>(
      `SELECT ${RECORD} FROM provider_credentials
        WHERE tenant_id = $1 ORDER BY created_at DESC, id DESC`,
      [tenantId],
    );
    return rows.map(toRecord);
  }

  /**
   * @returns undefined when the tenant already has `limit` credentials
   */
  async insert(
    transaction: SqlExecutor,
    tenantId: string,
    draft: CredentialDraft,
    limit: number,
  ): Promise<CredentialRecord | undefined> {
    // Serialized per tenant, or two could take the last free slot.
    await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `provider-credentials/${tenantId}`,
    ]);
    const { rows } = await transaction.query<CredentialRecord>(
      `INSERT INTO provider_credentials
           (id, tenant_id, provider, name, sealed_key, key_preview, settings, allow_shared_fallback,
            made_by, weight, requests_per_minute, tokens_per_minute)
         SELECT $2::uuid, $1::uuid, $3, $4, $5::bytea, $6, $7::jsonb, $8::boolean, $10,
                $11::integer, $12::integer, $13::integer
          WHERE (SELECT count(*) FROM provider_credentials WHERE tenant_id = $1) < $9
         RETURNING ${RECORD}`,
      [
        tenantId,
        draft.id,
        draft.provider,
        draft.name === null ? null : toStoredText(draft.name),
        draft.encryptedKey,
        draft.keyPreview,
        JSON.stringify(draft.settings),
        draft.allowSharedFallback,
        limit,
        draft.madeBy,
        draft.weight,
        draft.requestsPerMinute,
        draft.tokensPerMinute,
      ],
    );
    return rows[0] && toRecord(rows[0]);
  }

  /** Returns undefined when the tenant has no such credential. */
  async findOfTenant(tenantId: string, id: string): Promise<CredentialRecord | undefined> {
    const { rows } = await this.database.query<CredentialRecord>(
      `SELECT ${RECORD} FROM provider_credentials WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id],
    );
    return rows[0] && toRecord(rows[0]);
  }

  /** Returns a credential and locks it until the transaction ends. */
  async lock(
    transaction: SqlExecutor,
    tenantId: string,
    id: string,
  ): Promise<CredentialRecord | undefined> {
    const { rows } = await transaction.query<CredentialRecord>(
      `SELECT ${RECORD} FROM provider_credentials WHERE tenant_id = $1 AND id = $2 FOR UPDATE`,
      [tenantId, id],
    );
    return rows[0] && toRecord(rows[0]);
  }

  /** Updates a locked credential. */
  async setShare(
    transaction: SqlExecutor,
    id: string,
    { weight, requestsPerMinute, tokensPerMinute }: CredentialShare,
  ): Promise<void> {
    await transaction.query(
      `UPDATE provider_credentials
          SET weight = $2, requests_per_minute = $3, tokens_per_minute = $4 WHERE id = $1`,
      [id, weight, requestsPerMinute, tokensPerMinute],
    );
  }

  /**
   * @returns the deleted credential; undefined when the tenant has no such credential
   */
  async delete(
    transaction: SqlExecutor,
    tenantId: string,
    id: string,
  ): Promise<CredentialRecord | undefined> {
    const { rows } = await transaction.query<CredentialRecord>(
      `DELETE FROM provider_credentials WHERE tenant_id = $1 AND id = $2 RETURNING ${RECORD}`,
      [tenantId, id],
    );
    return rows[0] && toRecord(rows[0]);
  }

  /**
   * Returns the credentials of many tenants, newest first; omits tenants without any. Credentials
   * stored by routing keys come last, so that they draw no requests from the tenant's own.
   */
  async findByTenants(tenantIds: readonly string[]): Promise<Map<string, ByokCredential[]>> {
    const { rows } = await this.database.lookUps.query<StoredCredential>(
      `SELECT id, tenant_id AS "tenantId", provider, sealed_key AS "encryptedKey", settings,
              allow_shared_fallback AS "allowSharedFallback",
              made_by = 'routing' AS "isOfRoutingKey", ${SHARE}
         FROM provider_credentials
        WHERE tenant_id = ANY($1) ORDER BY made_by = 'routing', created_at DESC, id DESC`,
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
}

function toRecord(row: CredentialRecord): CredentialRecord {
  return { ...row, name: row.name === null ? null : fromStoredText(row.name) };
}
