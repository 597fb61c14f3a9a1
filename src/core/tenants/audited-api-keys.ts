import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { AuditLog } from '../audit/audit-log.js';
import { ApiKeyRepository, type ApiKeyDraft } from '../access/api-key.repository.js';
import type { Author } from '../access/author.js';

/** Changes tenants' keys and writes the audit rows in the same transaction. */
@Injectable()
export class AuditedApiKeys {
  constructor(
    private readonly database: Database,
    private readonly apiKeys: ApiKeyRepository,
    private readonly audit: AuditLog,
  ) {}

  create(author: Author, draft: ApiKeyDraft): Promise<string | undefined> {
    return this.database.transaction((client) => this.createWithin(client, author, draft));
  }

  /** @returns the new key's id; undefined when the key exists, whichever tenant owns it */
  async createWithin(
    transaction: SqlExecutor,
    author: Author,
    draft: ApiKeyDraft,
  ): Promise<string | undefined> {
    const id = await this.apiKeys.insert(draft, transaction);
    if (id !== undefined) await this.record(transaction, author, 'api_key.create', id);
    return id;
  }

  /** Changes the given fields; `expiresAt: null` clears the expiry. */
  async update(
    author: Author,
    tenantId: string,
    id: string,
    change: Parameters<ApiKeyRepository['updateNameAndExpiry']>[2],
  ): Promise<void> {
    await this.database.transaction((client) =>
      this.changeWithin(client, author, { id, action: 'api_key.update' }, () =>
        this.apiKeys.updateNameAndExpiry(tenantId, id, change, client),
      ),
    );
  }

  /** Revokes a key; one that is revoked already keeps its time. @returns whether the key exists */
  revoke(author: Author, id: string, tenantId?: string): Promise<boolean> {
    return this.database.transaction((client) =>
      this.changeWithin(client, author, { id, action: 'api_key.revoke' }, (owner) =>
        this.apiKeys.revoke(tenantId ?? owner, id, client),
      ),
    );
  }

  /**
   * Locks a key, runs a change, and records the fields before and after.
   *
   * @param change receives the key's tenant
   * @returns whether the key exists
   */
  async changeWithin(
    transaction: SqlExecutor,
    author: Author,
    { id, action }: { id: string; action: string },
    change: (tenantId: string) => Promise<void>,
  ): Promise<boolean> {
    const before = await this.apiKeys.lockAudited(transaction, id);
    if (!before) return false;
    const { tenant_id: tenantId, ...fields } = before;
    await change(tenantId);
    await this.record(transaction, author, action, id, fields);
    return true;
  }

  private async record(
    transaction: SqlExecutor,
    author: Author,
    action: string,
    id: string,
    before: object | null = null,
  ): Promise<void> {
    const found = await this.apiKeys.lockAudited(transaction, id);
    if (!found) return;
    const { tenant_id: tenantId, ...after } = found;
    await this.audit.record(transaction, author, {
      tenantId,
      action,
      target: { type: 'api_key', id },
      before: before && { ...before },
      after,
    });
  }
}
