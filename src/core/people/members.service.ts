import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { fromStoredText } from '../../platform/database/stored-text.js';
import {
  ConflictError,
  NotFoundError,
  PermissionError,
} from '../../platform/errors/gateway-errors.js';
import type { Author } from '../access/author.js';
import { AuditLog } from '../audit/audit-log.js';
import type { TenantRole } from '../access/roles.js';

/** A person with a role at a tenant. */
export interface Member {
  /** The person's. */
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly role: TenantRole;
  /** Whether the role comes from a claim of the issuer. */
  readonly byClaim: boolean;
  readonly createdAt: Date;
  readonly lastLoginAt: Date | null;
  readonly disabledAt: Date | null;
}

const MEMBERS = `
  SELECT people.id, name, email, role, by_claim AS "byClaim", memberships.created_at AS "createdAt",
         last_login_at AS "lastLoginAt", disabled_at AS "disabledAt"
    FROM memberships JOIN people ON people.id = person_id WHERE tenant_id = $1`;

/** Who belongs to a tenant. */
@Injectable()
export class MembersService {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /** Oldest first. */
  async list(tenantId: string, limit: number, after?: string[]): Promise<Member[]> {
    const [createdAt = null, id = null] = after ?? [];
    const { rows } = await this.database.query<Member>(
      `${MEMBERS} AND ($2::timestamptz IS NULL OR (memberships.created_at, people.id) > ($2, $3::uuid))
        ORDER BY memberships.created_at, people.id LIMIT $4`,
      [tenantId, createdAt, id, limit],
    );
    return rows.map(readable);
  }

  /**
   * Limits operators to a tenant's first owner: an owner reads stored prompts and answers.
   *
   * @throws PermissionError when the tenant has an owner who is not disabled
   */
  async refuseFurtherOwner(tenantId: string): Promise<void> {
    const { rows } = await this.database.query(
      `SELECT FROM memberships JOIN people ON people.id = person_id
        WHERE tenant_id = $1 AND role = 'owner' AND disabled_at IS NULL LIMIT 1`,
      [tenantId],
    );
    if (rows.length === 0) return;
    throw new PermissionError(
      'This tenant has an owner, and only owners add further ones. Ask one of them.',
      'role',
    );
  }

  /**
   * Gives a member another role, which holds from then on whatever claims say.
   *
   * @param param the name of the person's id in the path, for errors
   * @throws NotFoundError when the person is no member
   * @throws ConflictError for the last owner
   */
  async changeRole(
    author: Author,
    tenantId: string,
    personId: string,
    role: TenantRole,
    param = 'id',
  ): Promise<Member> {
    return this.database.transaction(async (transaction) => {
      const before = await this.lock(transaction, tenantId, personId, param);
      if (before.role === role && !before.byClaim) return before;
      if (role !== 'owner') await this.refuseLastOwner(transaction, tenantId, before, param);
      await transaction.query(
        `UPDATE memberships SET role = $3, by_claim = false WHERE tenant_id = $1 AND person_id = $2`,
        [tenantId, personId, role],
      );
      await this.audit.record(transaction, author, {
        tenantId,
        action: 'membership.update',
        target: { type: 'person', id: personId },
        before: { name: before.name, role: before.role },
        after: { name: before.name, role },
      });
      return { ...before, role, byClaim: false };
    });
  }

  /** @throws NotFoundError, ConflictError as `changeRole` */
  async remove(author: Author, tenantId: string, personId: string, param = 'id'): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const before = await this.lock(transaction, tenantId, personId, param);
      await this.refuseLastOwner(transaction, tenantId, before, param);
      await transaction.query(`DELETE FROM memberships WHERE tenant_id = $1 AND person_id = $2`, [
        tenantId,
        personId,
      ]);
      await this.audit.record(transaction, author, {
        tenantId,
        action: 'membership.delete',
        target: { type: 'person', id: personId },
        before: { name: before.name, role: before.role },
        after: null,
      });
    });
  }

  /** The owners' rows are locked first, in one order, so that two who take each other's role wait. */
  private async lock(
    transaction: SqlExecutor,
    tenantId: string,
    personId: string,
    param: string,
  ): Promise<Member> {
    await transaction.query(
      `SELECT FROM memberships WHERE tenant_id = $1 AND (role = 'owner' OR person_id = $2)
        ORDER BY person_id FOR UPDATE`,
      [tenantId, personId],
    );
    const { rows } = await transaction.query<Member>(`${MEMBERS} AND people.id = $2`, [
      tenantId,
      personId,
    ]);
    const member = rows.map(readable)[0];
    if (!member) throw new NotFoundError(param, 'The tenant has no member with this id.');
    return member;
  }

  private async refuseLastOwner(
    transaction: SqlExecutor,
    tenantId: string,
    member: Member,
    param: string,
  ): Promise<void> {
    if (member.role !== 'owner') return;
    const { rows } = await transaction.query(
      `SELECT FROM memberships JOIN people ON people.id = person_id
        WHERE tenant_id = $1 AND role = 'owner' AND disabled_at IS NULL AND person_id <> $2 LIMIT 1`,
      [tenantId, member.id],
    );
    if (rows.length > 0) return;
    throw new ConflictError(param, 'This is the last owner of the tenant; make another one first.');
  }
}

function readable(row: Member): Member {
  const { name, email } = row;
  return { ...row, name: fromStoredText(name), email: email && fromStoredText(email) };
}
