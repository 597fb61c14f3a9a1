import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThan, MoreThan, Repository } from 'typeorm';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { AuthenticationError } from '../../platform/errors/gateway-errors.js';
import type { Author } from '../access/author.js';
import { AuditLog } from '../audit/audit-log.js';
import { LoginLinkEntity } from './login-link.entity.js';
import { hashToken, isToken, mintToken } from '../access/sessions/session.js';

/** Minutes until a login link expires. */
export const LINK_MINUTES = 10;
/** Expired links are deleted after this time. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** Returns the link of a token. Browsers do not send the fragment, so the token reaches no log. */
export function loginUrlOf(baseUrl: string, token: string): string {
  return `${baseUrl}/console/login#link=${token}`;
}

/** Creates and redeems single-use tokens that open an admin's session. */
@Injectable()
export class LoginLinks {
  constructor(
    @InjectRepository(LoginLinkEntity) private readonly links: Repository<LoginLinkEntity>,
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /** @returns the token, which is not stored */
  create(author: Author): Promise<string> {
    return this.database.transaction((transaction) => this.createWithin(transaction, author));
  }

  async createWithin(transaction: SqlExecutor, author: Author): Promise<string> {
    const token = mintToken();
    const hash = hashToken(token);
    const links = this.database.within(transaction, this.links);
    await links.delete({ expiresAt: LessThan(new Date(Date.now() - KEPT_MS)) });
    await links.insert({
      tokenHash: Buffer.from(hash, 'hex'),
      expiresAt: () => `now() + interval '${LINK_MINUTES} minutes'`,
    });
    await this.audit.record(transaction, author, {
      tenantId: null,
      action: 'login_link.create',
      // A prefix identifies the link without giving it away.
      target: { type: 'login_link', id: hash.slice(0, 16) },
      before: null,
      after: { minutes: LINK_MINUTES },
    });
    return token;
  }

  /** Redeems a token. @throws AuthenticationError when it is unknown, used or expired */
  async redeem(transaction: SqlExecutor, token: string): Promise<void> {
    if (isToken(token)) {
      const tokenHash = Buffer.from(hashToken(token), 'hex');
      const { affected } = await this.database
        .within(transaction, this.links)
        .update(
          { tokenHash, usedAt: IsNull(), expiresAt: MoreThan(new Date()) },
          { usedAt: () => 'now()' },
        );
      if (affected === 1) return;
    }
    throw new AuthenticationError(
      `The login link is unknown, already used, or older than ${LINK_MINUTES} minutes. Create another one: npm run gateway -- login-link`,
    );
  }
}
