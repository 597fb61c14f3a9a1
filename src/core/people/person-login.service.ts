import { Injectable, Logger } from '@nestjs/common';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { toStoredText } from '../../platform/database/stored-text.js';
import { PermissionError } from '../../platform/errors/gateway-errors.js';
import type { Author } from '../access/author.js';
import { AuditLog } from '../audit/audit-log.js';
import type { Identity } from './claims.js';
import { InvitationsService, type Invitation } from './invitations.service.js';
import { SessionRepository } from '../access/sessions/session.repository.js';

/** What is known of the browser that logs in. */
export interface Browser {
  readonly userAgent: string | undefined;
  /** The token of the session that it had before, which ends. */
  readonly before: string | undefined;
}

interface PersonRow {
  id: string;
  operatorRole: string | null;
  disabledAt: Date | null;
}

/** Makes a session of what an issuer says of somebody, and a person the first time. */
@Injectable()
export class PersonLogin {
  private readonly logger = new Logger(PersonLogin.name);

  constructor(
    private readonly database: Database,
    private readonly invitations: InvitationsService,
    private readonly sessions: SessionRepository,
    private readonly audit: AuditLog,
  ) {}

  /**
   * A person is known by issuer and subject. Open invitations to a verified address are taken; roles that a
   * claim gives are set to what it says now, so that somebody who lost a group has lost its role.
   *
   * @returns the session's token
   * @throws PermissionError for somebody who has no role here, or is disabled
   */
  async logIn(identity: Identity, browser: Browser, requestId: string): Promise<string> {
    const token = await this.database.transaction(async (transaction) => {
      // Two first logins at once make one person.
      await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [
        toStoredText(`login ${identity.issuer} ${identity.subject}`),
      ]);
      const known = await this.find(transaction, identity);
      if (known?.disabledAt) throw new PermissionError('This person is disabled here.');
      const invited =
        identity.isEmailVerified && identity.email !== null
          ? await this.invitations.accept(transaction, identity.email)
          : [];
      if (!known && invited.length === 0 && identity.roles.length === 0) throw notInvited(identity);
      const id = await this.save(transaction, identity);
      const author: Author = { actor: { kind: 'person', id, name: identity.name }, requestId };
      if (!known) {
        await this.audit.record(transaction, author, {
          tenantId: null,
          action: 'person.create',
          target: { type: 'person', id },
          before: null,
          after: {
            name: identity.name,
            email: identity.isEmailVerified ? identity.email : null,
            issuer: identity.issuer,
          },
        });
      }
      for (const invitation of invited) await this.join(transaction, author, invitation);
      await this.applyClaims(transaction, author, identity);
      if (!(await this.hasRole(transaction, id))) {
        if (!known) throw notInvited(identity);
        return undefined;
      }
      const session = await this.sessions.open(transaction, { kind: 'person', id }, browser);
      await this.audit.record(transaction, author, {
        tenantId: null,
        action: 'session.create',
        target: { type: 'session', id: session.id },
        before: null,
        after: { person_id: id },
      });
      return session.token;
    });
    // Thrown behind the commit: what the claims took away is gone.
    if (token === undefined) throw notInvited(identity);
    return token;
  }

  private async find(transaction: SqlExecutor, identity: Identity): Promise<PersonRow | undefined> {
    const { rows } = await transaction.query<PersonRow>(
      `SELECT id, operator_role AS "operatorRole", disabled_at AS "disabledAt"
         FROM people WHERE issuer = $1 AND subject = $2 FOR UPDATE`,
      [toStoredText(identity.issuer), toStoredText(identity.subject)],
    );
    return rows[0];
  }

  private async save(transaction: SqlExecutor, identity: Identity): Promise<string> {
    const { rows } = await transaction.query<{ id: string }>(
      `INSERT INTO people (issuer, subject, name, email, last_login_at)
       VALUES ($1, $2, $3, $4, now())
       ON CONFLICT (issuer, subject) DO UPDATE
         SET name = excluded.name, email = excluded.email, last_login_at = now()
       RETURNING id`,
      [
        identity.issuer,
        identity.subject,
        identity.name,
        // Anyone can claim an unverified address: showing it would pass them off as its owner.
        identity.isEmailVerified ? identity.email : null,
      ].map((text) => text && toStoredText(text)),
    );
    return rows[0]!.id;
  }

  /** A role that is there already stays as it is. */
  private async join(
    transaction: SqlExecutor,
    author: Author,
    { tenantId, role }: Invitation,
  ): Promise<void> {
    const personId = author.actor.id;
    const { rows } =
      tenantId === null
        ? await transaction.query(
            `UPDATE people SET operator_role = $2, operator_by_claim = false
              WHERE id = $1 AND operator_role IS NULL RETURNING id`,
            [personId, role],
          )
        : await transaction.query(
            `INSERT INTO memberships (person_id, tenant_id, role) VALUES ($1, $2, $3)
             ON CONFLICT DO NOTHING RETURNING person_id`,
            [personId, tenantId, role],
          );
    if (rows.length > 0) await this.recordRole(transaction, author, tenantId, null, role);
  }

  private async applyClaims(
    transaction: SqlExecutor,
    author: Author,
    { roles }: Identity,
  ): Promise<void> {
    const id = author.actor.id;
    const operatorRoles = roles.filter(({ tenant }) => tenant === undefined);
    const operator = operatorRoles.find(({ role }) => role === 'admin') ?? operatorRoles[0];
    const { rows: changed } = await transaction.query<{ before: string | null }>(
      `UPDATE people SET operator_role = $2, operator_by_claim = $2 IS NOT NULL
         FROM (SELECT id AS before_id, operator_role AS before FROM people WHERE id = $1) known
        WHERE id = $1 AND id = before_id AND (operator_by_claim OR operator_role IS NULL)
          AND operator_role IS DISTINCT FROM $2
        RETURNING before`,
      [id, operator?.role ?? null],
    );
    for (const { before } of changed) {
      await this.recordRole(transaction, author, null, before, operator?.role ?? null);
    }
    const wanted = await this.wantedMemberships(transaction, roles);
    const { rows: gone } = await transaction.query<{ tenantId: string; role: string }>(
      `DELETE FROM memberships WHERE person_id = $1 AND by_claim AND tenant_id <> ALL ($2::uuid[])
       RETURNING tenant_id AS "tenantId", role`,
      [id, [...wanted.keys()]],
    );
    for (const { tenantId, role } of gone) {
      await this.recordRole(transaction, author, tenantId, role, null);
    }
    for (const [tenantId, role] of wanted) {
      const { rows } = await transaction.query(
        `INSERT INTO memberships (person_id, tenant_id, role, by_claim) VALUES ($1, $2, $3, true)
         ON CONFLICT (person_id, tenant_id) DO UPDATE SET role = excluded.role
           WHERE memberships.by_claim AND memberships.role <> excluded.role
         RETURNING role`,
        [id, tenantId, role],
      );
      if (rows.length > 0) await this.recordRole(transaction, author, tenantId, null, role);
    }
  }

  /** Roles by tenant; of several that claims give at one tenant the first one that the settings name. */
  private async wantedMemberships(
    transaction: SqlExecutor,
    roles: Identity['roles'],
  ): Promise<Map<string, string>> {
    const wanted = new Map<string, string>();
    for (const { tenant, role } of roles) {
      if (tenant === undefined) continue;
      const { rows } = await transaction.query<{ id: string }>(
        `SELECT id FROM tenants WHERE name = $1 AND deleted_at IS NULL`,
        [toStoredText(tenant)],
      );
      const [found] = rows;
      if (!found)
        this.logger.warn(`GATEWAY_OIDC_ROLES names a tenant that there is not: ${tenant}`);
      else if (!wanted.has(found.id)) wanted.set(found.id, role);
    }
    return wanted;
  }

  private async hasRole(transaction: SqlExecutor, id: string): Promise<boolean> {
    const { rows } = await transaction.query(
      `SELECT FROM people WHERE id = $1 AND (operator_role IS NOT NULL
          OR EXISTS (
            SELECT FROM memberships JOIN tenants ON tenants.id = tenant_id
             WHERE person_id = people.id AND deleted_at IS NULL
          ))`,
      [id],
    );
    return rows.length > 0;
  }

  /** @param tenantId null: a role of operators */
  private recordRole(
    transaction: SqlExecutor,
    author: Author,
    tenantId: string | null,
    before: string | null,
    after: string | null,
  ): Promise<void> {
    const { name } = author.actor;
    return this.audit.record(transaction, author, {
      tenantId,
      action: tenantId === null ? 'person.update' : 'membership.update',
      target: { type: 'person', id: author.actor.id ?? '' },
      before: before === null ? null : { name, role: before },
      after: after === null ? null : { name, role: after },
    });
  }
}

function notInvited({ email, isEmailVerified }: Identity): PermissionError {
  return new PermissionError(
    email !== null && !isEmailVerified
      ? 'The login service does not say that your e-mail address is verified, so no invitation to it can be taken.'
      : 'There is no role for you here, and no open invitation to your e-mail address. Ask an owner of the tenant, or an operator, to invite you.',
    'email',
  );
}
