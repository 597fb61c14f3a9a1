import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { AuthenticationError, PermissionError } from '../../platform/errors/gateway-errors.js';
import { AdminKeyDirectory } from '../access/admin-key-directory.service.js';
import { isAdminKey } from '../access/api-key.js';
import { apiKeyStatus } from '../access/api-key.entity.js';
import type { Actor } from '../access/author.js';
import { KeyDirectory } from '../access/key-directory.service.js';
import { AuditLog } from '../audit/audit-log.js';
import { LoginLinks } from './login-links.service.js';
import type { Browser } from './person-login.service.js';
import type { SessionOwner } from '../access/sessions/session.js';
import { SessionRepository } from '../access/sessions/session.repository.js';

/** Opens sessions for keys, and for login links from the operator's command line. */
@Injectable()
export class KeyLogin {
  constructor(
    private readonly database: Database,
    private readonly keys: KeyDirectory,
    private readonly adminKeys: AdminKeyDirectory,
    private readonly sessions: SessionRepository,
    private readonly links: LoginLinks,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Opens a session with the rights of a management key or an operator's key. It ends with the key.
   *
   * @returns the session's token
   * @throws AuthenticationError for an unknown, expired or revoked key
   * @throws PermissionError for a routing key
   */
  async byKey(presented: string, browser: Browser, requestId: string): Promise<string> {
    if (isAdminKey(presented)) {
      const key = await this.adminKeys.resolve(presented);
      if (!key || apiKeyStatus(key, Date.now()) !== 'active') throw invalidKey();
      const { id, name } = key;
      return this.open({ kind: 'admin_key', id, name }, { kind: 'admin_key', id }, null, {
        browser,
        requestId,
      });
    }
    const key = await this.keys.resolve(presented);
    if (key?.status !== 'active') throw invalidKey();
    const { apiKeyId: id, keyName: name, keyType, tenantId } = key.caller;
    if (keyType !== 'management') {
      throw new PermissionError(
        'A routing key (sk-…) cannot log in. Use a management key (sk-mgmt-…) or an admin key (sk-admin-…).',
        'key',
      );
    }
    return this.open({ kind: 'api_key', id, name }, { kind: 'api_key', id }, tenantId, {
      browser,
      requestId,
    });
  }

  /**
   * Opens an operator session for a login link.
   *
   * @returns the session's token
   * @throws AuthenticationError when the link is unknown, used or expired
   */
  async byLink(link: string, browser: Browser, requestId: string): Promise<string> {
    const actor: Actor = { kind: 'command', id: null, name: 'login link' };
    return this.open(actor, { kind: 'link', id: null }, null, {
      browser,
      requestId,
      before: (transaction) => this.links.redeem(transaction, link),
    });
  }

  private open(
    actor: Actor,
    owner: SessionOwner,
    tenantId: string | null,
    { browser, requestId, before }: OpenOptions,
  ): Promise<string> {
    return this.database.transaction(async (transaction) => {
      await before?.(transaction);
      const { id, token } = await this.sessions.open(transaction, owner, browser);
      await this.audit.record(
        transaction,
        { actor, requestId },
        {
          tenantId,
          action: 'session.create',
          target: { type: 'session', id },
          before: null,
          after: { [`${owner.kind}_id`]: owner.id },
        },
      );
      return token;
    });
  }
}

interface OpenOptions {
  readonly browser: Browser;
  readonly requestId: string;
  /** Runs first, in the same transaction. */
  readonly before?: (transaction: SqlExecutor) => Promise<void>;
}

function invalidKey(): AuthenticationError {
  return new AuthenticationError(
    'The key is unknown, expired or revoked. Check that it is complete.',
  );
}
