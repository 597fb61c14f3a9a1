import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { ConflictError } from '../../platform/errors/gateway-errors.js';
import { AuditLog } from '../audit/audit-log.js';
import type { AdminKeyEntity } from '../access/admin-key.entity.js';
import { AdminKeyRepository, auditedAdminKey } from '../access/admin-keys.repository.js';
import { mintApiKey } from '../access/api-key.js';
import type { Author } from '../access/author.js';
import type { OperatorRole } from '../access/roles.js';

/** Changes operators' keys and writes the audit rows. */
@Injectable()
export class AdminKeysService {
  constructor(
    private readonly database: Database,
    private readonly adminKeys: AdminKeyRepository,
    private readonly audit: AuditLog,
  ) {}

  /** @returns the new key with its plaintext, which is not stored */
  create(
    author: Author,
    { name, role, expiresAt }: { name: string; role: OperatorRole; expiresAt: Date | null },
  ): Promise<AdminKeyEntity & { plaintext: string }> {
    return this.database.transaction(async (client) => {
      const plaintext = mintApiKey('admin');
      const key = await this.insertWithin(client, author, { name, plaintext, role, expiresAt });
      if (!key) throw new Error('A freshly minted key exists already');
      return { ...key, plaintext };
    });
  }

  /** @returns undefined when the key exists already */
  async insertWithin(
    transaction: SqlExecutor,
    author: Author,
    draft: Parameters<AdminKeyRepository['insert']>[0],
  ): Promise<AdminKeyEntity | undefined> {
    const key = await this.adminKeys.insert(draft, transaction);
    if (!key) return undefined;
    await this.audit.record(transaction, author, {
      tenantId: null,
      action: 'admin_key.create',
      target: { type: 'admin_key', id: key.id },
      before: null,
      after: auditedAdminKey(key),
    });
    return key;
  }

  /**
   * Revokes a key; one that is revoked already keeps its time.
   *
   * @param allowsLast whether the last active admin key may be revoked
   * @returns undefined when the key is unknown
   * @throws ConflictError for the last active admin key unless allowed
   */
  revoke(author: Author, id: string, allowsLast: boolean): Promise<AdminKeyEntity | undefined> {
    return this.database.transaction(async (client) => {
      const admins = await this.adminKeys.lockActiveAdmins(client);
      const before = await this.adminKeys.findById(id, client);
      if (!before || before.revokedAt) return before;
      if (!allowsLast && admins.length === 1 && admins[0] === id) {
        throw new ConflictError(
          'id',
          'This is the last active admin key. Create another one first, or revoke it with `npm run gateway -- admin revoke`.',
        );
      }
      const after = await this.adminKeys.revoke(id, client);
      if (!after) return before;
      await this.audit.record(client, author, {
        tenantId: null,
        action: 'admin_key.revoke',
        target: { type: 'admin_key', id },
        before: auditedAdminKey(before),
        after: auditedAdminKey(after),
      });
      return after;
    });
  }
}
