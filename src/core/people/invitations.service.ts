import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import { ConflictError, NotFoundError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { asciiLowerCase } from '../../platform/text/ascii-lower-case.js';
import type { Author } from '../access/author.js';
import { AuditLog } from '../audit/audit-log.js';
import type { OperatorRole, TenantRole } from '../access/roles.js';

const OPEN_FOR_DAYS = 14;

/** To log in with an e-mail address, and have a role then. */
export interface Invitation {
  readonly id: string;
  readonly email: string;
  /** Null: it is to a role of operators. */
  readonly tenantId: string | null;
  readonly role: TenantRole | OperatorRole;
  /** The name of who made it. */
  readonly invitedBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** For whom: a role of operators, or one at a tenant. */
export type InvitedRole =
  | { readonly tenantId: null; readonly role: OperatorRole }
  | { readonly tenantId: string; readonly role: TenantRole };

const COLUMNS = `id, email, tenant_id AS "tenantId", role, invited_by AS "invitedBy",
  created_at AS "createdAt", expires_at AS "expiresAt"`;
const OPEN = 'accepted_at IS NULL AND revoked_at IS NULL AND expires_at > now()';

/**
 * Invitations by e-mail address. They hold no secret: an issuer has to say that the address is verified,
 * so that whoever sees an invitation can do nothing with it.
 */
@Injectable()
export class InvitationsService {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /**
   * @throws ConflictError when the address is invited, or has such a role, already
   * @throws NotFoundError (`tenant_id`) for a deleted tenant, which is to know of nobody any more
   */
  async invite(author: Author, email: string, to: InvitedRole): Promise<Invitation> {
    const address = toStoredText(asciiLowerCase(email));
    return this.database.transaction(async (transaction) => {
      await this.refuseDeleted(transaction, to.tenantId);
      await this.refuseMember(transaction, address, to.tenantId);
      // One that has run out makes room.
      await transaction.query(
        `UPDATE invitations SET revoked_at = now()
          WHERE email = $1 AND tenant_id IS NOT DISTINCT FROM $2 AND accepted_at IS NULL
            AND revoked_at IS NULL AND expires_at <= now()`,
        [address, to.tenantId],
      );
      const { rows } = await transaction.query<Invitation>(
        `INSERT INTO invitations (email, tenant_id, role, invited_by, expires_at)
         VALUES ($1, $2, $3, $4, now() + make_interval(days => $5))
         ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
        [address, to.tenantId, to.role, toStoredText(author.actor.name), OPEN_FOR_DAYS],
      );
      const made = rows.map(readable)[0];
      if (!made) {
        throw new ConflictError('email', 'This address is invited already; withdraw that first.');
      }
      await this.record(transaction, author, made, 'create');
      return made;
    });
  }

  /** The open ones of a tenant, or of operators, oldest first. */
  async list(tenantId: string | null, limit: number, after?: string[]): Promise<Invitation[]> {
    const [createdAt = null, id = null] = after ?? [];
    const { rows } = await this.database.query<Invitation>(
      `SELECT ${COLUMNS} FROM invitations
        WHERE tenant_id IS NOT DISTINCT FROM $1 AND ${OPEN}
          AND ($2::timestamptz IS NULL OR (created_at, id) > ($2, $3::uuid))
        ORDER BY created_at, id LIMIT $4`,
      [tenantId, createdAt, id, limit],
    );
    return rows.map(readable);
  }

  /** @throws NotFoundError when the tenant, or the operators, have no such open invitation */
  async withdraw(author: Author, tenantId: string | null, id: string): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const { rows } = await transaction.query<Invitation>(
        `UPDATE invitations SET revoked_at = now()
          WHERE id = $2 AND tenant_id IS NOT DISTINCT FROM $1 AND ${OPEN} RETURNING ${COLUMNS}`,
        [tenantId, id],
      );
      const withdrawn = rows.map(readable)[0];
      if (!withdrawn) throw new NotFoundError('id', 'There is no open invitation with this id.');
      await this.record(transaction, author, withdrawn, 'delete');
    });
  }

  /** Takes the open invitations of a verified address, in the transaction of its login. */
  async accept(transaction: SqlExecutor, email: string): Promise<Invitation[]> {
    const { rows } = await transaction.query<Invitation>(
      `UPDATE invitations SET accepted_at = now() WHERE email = $1 AND ${OPEN} RETURNING ${COLUMNS}`,
      [toStoredText(email)],
    );
    return rows.map(readable);
  }

  private async refuseDeleted(transaction: SqlExecutor, tenantId: string | null): Promise<void> {
    if (tenantId === null) return;
    const { rowCount } = await transaction.query(
      'SELECT FROM tenants WHERE id = $1 AND deleted_at IS NULL FOR SHARE',
      [tenantId],
    );
    if (rowCount !== 1) throw new NotFoundError('tenant_id', 'There is no tenant with this id.');
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
      [email, tenantId],
    );
    if (rows.length > 0) {
      throw new ConflictError('email', 'This person has a role here already; change that instead.');
    }
  }

  private record(
    transaction: SqlExecutor,
    author: Author,
    invitation: Invitation,
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
}

function readable(row: Invitation): Invitation {
  return { ...row, email: fromStoredText(row.email), invitedBy: fromStoredText(row.invitedBy) };
}
