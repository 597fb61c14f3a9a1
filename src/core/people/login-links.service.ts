import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { AuthenticationError } from '../../platform/errors/gateway-errors.js';
import type { Author } from '../access/author.js';
import { AuditLog } from '../audit/audit-log.js';
import { hashToken, isToken, mintToken } from '../access/sessions/session.js';

/** Minutes until a login link expires. */
export const LINK_MINUTES = 10;

/** Where a token logs in: in the fragment, which browsers keep to themselves, so that it gets into no log. */
export function loginUrlOf(baseUrl: string, token: string): string {
  return `${baseUrl}/console/login#link=${token}`;
}

/** Tokens that each open one session of an admin, once. */
@Injectable()
export class LoginLinks {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /** @returns the token, which is kept nowhere */
  make(author: Author): Promise<string> {
    return this.database.transaction((transaction) => this.makeWithin(transaction, author));
  }

  /** The same as part of a larger change. */
  async makeWithin(transaction: SqlExecutor, author: Author): Promise<string> {
    const token = mintToken();
    const hash = hashToken(token);
    await transaction.query(`DELETE FROM login_links WHERE expires_at < now() - interval '1 day'`);
    await transaction.query(
      `INSERT INTO login_links (token_hash, expires_at)
       VALUES (decode($1, 'hex'), now() + make_interval(mins => $2))`,
      [hash, LINK_MINUTES],
    );
    await this.audit.record(transaction, author, {
      tenantId: null,
      action: 'login_link.create',
      // The beginning tells links apart, and opens none.
      target: { type: 'login_link', id: hash.slice(0, 16) },
      before: null,
      after: { minutes: LINK_MINUTES },
    });
    return token;
  }

  /** Uses a token up. @throws AuthenticationError when it is unknown, used, or too old */
  async use(transaction: SqlExecutor, token: string): Promise<void> {
    const { rows } = await transaction.query(
      `UPDATE login_links SET used_at = now()
        WHERE token_hash = decode($1, 'hex') AND used_at IS NULL AND expires_at > now()
        RETURNING 1`,
      [isToken(token) ? hashToken(token) : ''],
    );
    if (rows.length > 0) return;
    throw new AuthenticationError(
      `The login link is unknown, was used before, or is older than ${LINK_MINUTES} minutes. Make another one: npm run gateway -- login-link`,
    );
  }
}
