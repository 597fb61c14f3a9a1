import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, LessThanOrEqual, MoreThan, Repository } from 'typeorm';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { toStoredText } from '../../platform/database/stored-text.js';
import { ConflictError, NotFoundError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { asciiLowerCase } from '../../platform/text/ascii-lower-case.js';
import type { Author } from '../access/author.js';
import { AuditLog } from '../audit/audit-log.js';
import type { OperatorRole, TenantRole } from '../access/roles.js';
import { InvitationEntity } from './invitation.entity.js';

const OPEN_FOR_DAYS = 14;

/** The invited role: an operator's, or a member's at a tenant. */
export type InvitedRole =
  | { readonly tenantId: null; readonly role: OperatorRole }
  | { readonly tenantId: string; readonly role: TenantRole };

/**
 * Manages invitations by e-mail address. They hold no secret: only a login with that address, verified by
 * the issuer, accepts them.
 */
@Injectable()
export class InvitationsService {
  constructor(
    @InjectRepository(InvitationEntity)
    private readonly invitations: Repository<InvitationEntity>,
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /**
   * @throws ConflictError when the address has an open invitation or such a role
   * @throws NotFoundError (`tenant_id`) for a deleted tenant
   */
  async invite(
    author: Author,
    address: string,
    { tenantId, role }: InvitedRole,
  ): Promise<InvitationEntity> {
    const email = asciiLowerCase(address);
    return this.database.transaction(async (transaction) => {
      await this.refuseDeleted(transaction, tenantId);
      await this.refuseMember(transaction, email, tenantId);
      const invitations = this.within(transaction);
      // The unique index counts expired invitations as open until they are revoked.
      await invitations.update(
        { email, ...ofTenant(tenantId), ...UNUSED, expiresAt: LessThanOrEqual(new Date()) },
        { revokedAt: () => 'now()' },
      );
      const { identifiers } = await invitations
        .createQueryBuilder()
        .insert()
        .values({
          email,
          tenantId,
          role,
          invitedBy: author.actor.name,
          expiresAt: () => `now() + interval '${OPEN_FOR_DAYS} days'`,
        })
        .orIgnore()
        .execute();
      const id = identifiers[0]?.id as string | undefined;
      if (id === undefined) {
        throw new ConflictError(
          'email',
          'This address has an open invitation. Withdraw it before you send another one.',
        );
      }
      const invitation = await invitations.findOneByOrFail({ id });
      await this.record(transaction, author, invitation, 'create');
      return invitation;
    });
  }

  /**
   * Returns open invitations of a tenant, or of the operators for null, oldest first.
   *
   * @param after creation time and id of the previous page's last invitation
   */
  list(tenantId: string | null, limit: number, after?: string[]): Promise<InvitationEntity[]> {
    const query = this.invitations
      .createQueryBuilder('invitation')
      .where({ ...ofTenant(tenantId), ...openNow() });
    const [time, id] = after ?? [];
    if (after) {
      const behind = '(invitation.createdAt, invitation.id) > (:time::timestamptz, :id::uuid)';
      query.andWhere(behind, { time, id });
    }
    return query
      .orderBy({ 'invitation.createdAt': 'ASC', 'invitation.id': 'ASC' })
      .limit(limit)
      .getMany();
  }

  /** @throws NotFoundError when the tenant, or the operators, have no such open invitation */
  async withdraw(author: Author, tenantId: string | null, id: string): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const invitations = this.within(transaction);
      const invitation = await invitations.findOne({
        where: { id, ...ofTenant(tenantId), ...openNow() },
        lock: { mode: 'pessimistic_write' },
      });
      if (!invitation) throw new NotFoundError('id', 'No open invitation has this id.');
      await invitations.update({ id }, { revokedAt: () => 'now()' });
      await this.record(transaction, author, invitation, 'delete');
    });
  }

  /** Accepts the open invitations of a verified address, in the transaction of its login. */
  async accept(transaction: SqlExecutor, email: string): Promise<InvitationEntity[]> {
    const invitations = this.within(transaction);
    const accepted = await invitations.find({
      where: { email, ...openNow() },
      lock: { mode: 'pessimistic_write' },
    });
    if (accepted.length > 0) {
      const ids = accepted.map(({ id }) => id);
      await invitations.update({ id: In(ids) }, { acceptedAt: () => 'now()' });
    }
    return accepted;
  }

  private async refuseDeleted(transaction: SqlExecutor, tenantId: string | null): Promise<void> {
    if (tenantId === null) return;
    const { rowCount } = await transaction.query(
      'SELECT FROM tenants WHERE id = $1 AND deleted_at IS NULL FOR SHARE',
      [tenantId],
    );
    if (rowCount !== 1) throw new NotFoundError('tenant_id', 'No tenant has this id.');
  }

  private async refuseMember(
    transaction: SqlExecutor,
    email: string,
    tenantId: string | null,
  ): Promise<void> {
    const { rows } = await transaction.query(
      tenantId === null
        ? `SELECT FROM people WHERE email = $1 AND operator_role IS NOT NULL AND $2::uuid IS NULL`
        : `SELECT FROM people JOIN memberships ON person_id = people.id
            WHERE email = $1 AND tenant_id = $2`,
      [toStoredText(email), tenantId],
    );
    if (rows.length > 0) {
      throw new ConflictError(
        'email',
        'This person already has a role here. Change the role instead.',
      );
    }
  }

  private record(
    transaction: SqlExecutor,
    author: Author,
    invitation: InvitationEntity,
    verb: 'create' | 'delete',
  ): Promise<void> {
    const { id, tenantId, email, role, expiresAt } = invitation;
    const fields: JsonObject = { email, role, expires_at: expiresAt.toISOString() };
    return this.audit.record(transaction, author, {
      tenantId,
      action: `invitation.${verb}`,
      target: { type: 'invitation', id },
      before: verb === 'create' ? null : fields,
      after: verb === 'create' ? fields : null,
    });
  }

  private within(executor: SqlExecutor): Repository<InvitationEntity> {
    return this.database.within(executor, this.invitations);
  }
}

const UNUSED = { acceptedAt: IsNull(), revokedAt: IsNull() };

const openNow = () => ({ ...UNUSED, expiresAt: MoreThan(new Date()) });

/** Matches invitations to a tenant; null to the operators. */
const ofTenant = (tenantId: string | null) => ({ tenantId: tenantId ?? IsNull() });
