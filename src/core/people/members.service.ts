import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
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
import { MembershipEntity } from './membership.entity.js';

/** A person with a role at a tenant. */
export interface Member {
  /** Id of the person. */
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly role: TenantRole;
  /** True when the role comes from a claim of the issuer. */
  readonly byClaim: boolean;
  readonly createdAt: Date;
  readonly lastLoginAt: Date | null;
  readonly disabledAt: Date | null;
}

const MEMBERS = `
  SELECT people.id, name, email, role, by_claim AS "byClaim", memberships.created_at AS "createdAt",
         last_login_at AS "lastLoginAt", disabled_at AS "disabledAt"
    FROM memberships JOIN people ON people.id = person_id WHERE tenant_id = $1`;

/** Manages the members of a tenant. */
@Injectable()
export class MembersService {
  constructor(
    @InjectRepository(MembershipEntity)
    private readonly memberships: Repository<MembershipEntity>,
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /** Returns a page of members, oldest first. @param after creation time and id of the previous page's last one */
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
   * Lets operators appoint only a tenant's first owner, since owners read stored prompts and answers.
   *
   * @throws PermissionError when the tenant has an active owner
   */
  async refuseFurtherOwner(tenantId: string): Promise<void> {
    const { rows } = await this.database.query(
      `SELECT FROM memberships JOIN people ON people.id = person_id
        WHERE tenant_id = $1 AND role = 'owner' AND disabled_at IS NULL LIMIT 1`,
      [tenantId],
    );
    if (rows.length === 0) return;
    throw new PermissionError(
      'This tenant has an owner. Only its owners can add another one; ask one of them.',
      'role',
    );
  }

  /**
   * Changes a member's role. Claims of the issuer no longer affect it.
   *
   * @param param path parameter of the person's id, for errors
   * @throws NotFoundError when the person is not a member
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
      await this.within(transaction).update({ tenantId, personId }, { role, byClaim: false });
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

  /** Throws the same errors as `changeRole`. */
  async remove(author: Author, tenantId: string, personId: string, param = 'id'): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const before = await this.lock(transaction, tenantId, personId, param);
      await this.refuseLastOwner(transaction, tenantId, before, param);
      await this.within(transaction).delete({ tenantId, personId });
      await this.audit.record(transaction, author, {
        tenantId,
        action: 'membership.delete',
        target: { type: 'person', id: personId },
        before: { name: before.name, role: before.role },
        after: null,
      });
    });
  }

  /** Locks the member and all owners in one order, so that two owners cannot demote each other at once. */
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
    throw new ConflictError(
      param,
      'This is the last owner of the tenant. Appoint another owner first.',
    );
  }

  private within(executor: SqlExecutor): Repository<MembershipEntity> {
    return this.database.within(executor, this.memberships);
  }
}

function readable(row: Member): Member {
  const { name, email } = row;
  return { ...row, name: fromStoredText(name), email: email && fromStoredText(email) };
}
