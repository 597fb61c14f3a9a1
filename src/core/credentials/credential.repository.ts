import { Injectable } from '@nestjs/common';
import type { Maker } from '../access/caller.js';
import { SCOPE_COLUMNS, scopeIsLive, type ScopedRow } from '../access/scope.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';

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
  }) {
    this.id = fields.id;
    this.provider = fields.provider;
    this.allowSharedFallback = fields.allowSharedFallback;
    this.scopeKeyId = fields.scopeKeyId ?? null;
    this.share = fields.share;
    this.settings = fields.settings;
    this.#encryptedKey = fields.encryptedKey;
  }

  /** The key as it is stored, encrypted for the row's id. */
  encryptedKey(): Buffer {
    return this.#encryptedKey;
  }
}

/** A credential that is about to be stored. */
interface CredentialDraft extends CredentialShare {
  /** Chosen before the key is encrypted, which binds it to this id. */
  id: string;
  provider: string;
  name: string | null;
  encryptedKey: Buffer;
  keyPreview: string;
  settings: Record<string, string>;
  allowSharedFallback: boolean;
  madeBy: Maker;
  scopeKeyId: string | null;
}

/** A credential as its tenant sees it: everything but the key. */
export interface CredentialRecord extends CredentialShare, ScopedRow {
  id: string;
  provider: string;
  name: string | null;
  keyPreview: string;
  settings: Record<string, string>;
  allowSharedFallback: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
}

interface StoredCredential extends CredentialShare {
  id: string;
  tenantId: string;
  provider: string;
  encryptedKey: Buffer;
  settings: Record<string, string>;
  allowSharedFallback: boolean;
  scopeKeyId: string | null;
}

const SHARE = `
  weight, requests_per_minute AS "requestsPerMinute", tokens_per_minute AS "tokensPerMinute"`;
const RECORD = `
  id, provider, name, key_preview AS "keyPreview", settings,
  allow_shared_fallback AS "allowSharedFallback", created_at AS "createdAt",
  last_used_at AS "lastUsedAt", ${SCOPE_COLUMNS}, ${SHARE}`;

/** Tenants' own accounts with vendors, in the database; their keys are encrypted there. */
@Injectable()
export class CredentialRepository {
  constructor(private readonly database: Database) {}

  /** Newest first. */
  async listOfTenant(tenantId: string): Promise<CredentialRecord[]> {
    const { rows } = await this.database.query<CredentialRecord>(
      `SELECT ${RECORD} FROM provider_credentials
        WHERE tenant_id = $1 ORDER BY created_at DESC, id DESC`,
      [tenantId],
    );
    return rows.map(toRecord);
  }

  /** @returns undefined when the tenant has `limit` of them already */
  async insert(
    transaction: SqlExecutor,
    tenantId: string,
    draft: CredentialDraft,
    limit: number,
  ): Promise<CredentialRecord | undefined> {
    // One at a time for each tenant, or two could both be the last that fits.
    await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `provider-credentials/${tenantId}`,
    ]);
    const { rows } = await transaction.query<CredentialRecord>(
      `INSERT INTO provider_credentials
           (id, tenant_id, provider, name, sealed_key, key_preview, settings, allow_shared_fallback,
            made_by, weight, requests_per_minute, tokens_per_minute, scope_key_id)
         SELECT $2::uuid, $1::uuid, $3, $4, $5::bytea, $6, $7::jsonb, $8::boolean, $10,
                $11::integer, $12::integer, $13::integer, $14::uuid
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
        draft.scopeKeyId,
      ],
    );
    return rows[0] && toRecord(rows[0]);
  }

  /** Undefined when the tenant has no such credential. */
  async findOfTenant(tenantId: string, id: string): Promise<CredentialRecord | undefined> {
    const { rows } = await this.database.query<CredentialRecord>(
      `SELECT ${RECORD} FROM provider_credentials WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id],
    );
    return rows[0] && toRecord(rows[0]);
  }

  /** The same, which nobody else changes until the transaction is over. */
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

  /** Of one that is locked. */
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

  /** @returns what it was; undefined when the tenant has no such credential */
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
   * Returns the live credentials of many tenants, newest first, those of single keys after the
   * tenant's own. A tenant without any is left out.
   */
  async findByTenants(tenantIds: readonly string[]): Promise<Map<string, ByokCredential[]>> {
    const { rows } = await this.database.lookUps.query<StoredCredential>(
      `SELECT id, tenant_id AS "tenantId", provider, sealed_key AS "encryptedKey", settings,
              allow_shared_fallback AS "allowSharedFallback",
              scope_key_id AS "scopeKeyId", ${SHARE}
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
}

function toRecord(row: CredentialRecord): CredentialRecord {
  return { ...row, name: row.name === null ? null : fromStoredText(row.name) };
}
