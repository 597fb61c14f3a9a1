import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { toStoredText } from '../../platform/database/stored-text.js';
import { PermissionError } from '../../platform/errors/gateway-errors.js';
import type { Author } from '../access/author.js';
import { AuditLog } from '../audit/audit-log.js';
import type { Identity } from './claims.js';
import type { InvitationEntity } from './invitation.entity.js';
import { InvitationsService } from './invitations.service.js';
import { PersonEntity } from './person.entity.js';
import { SessionRepository } from '../access/sessions/session.repository.js';

/** The browser that logs in. */
export interface Browser {
  readonly userAgent: string | undefined;
  /** Token of its previous session, which ends. */
  readonly before: string | undefined;
}

/** Opens sessions for people authenticated by the issuer, and creates a person at the first login. */
@Injectable()
export class PersonLogin {
  private readonly logger = new Logger(PersonLogin.name);

  constructor(
    @InjectRepository(PersonEntity) private readonly people: Repository<PersonEntity>,
    private readonly database: Database,
    private readonly invitations: InvitationsService,
    private readonly sessions: SessionRepository,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Logs a person in, identified by issuer and subject. Accepts open invitations to a verified address, and syncs
   * roles that come from claims, so that leaving a group at the issuer revokes its role.
   *
   * @returns the session's token
   * @throws PermissionError when the person has no role here or is disabled
   */
  async logIn(identity: Identity, browser: Browser, requestId: string): Promise<string> {
    const token = await this.database.transaction(async (transaction) => {
      // Concurrent first logins must create one person.
      await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [
        toStoredText(`login ${identity.issuer} ${identity.subject}`),
      ]);
      const { issuer, subject } = identity;
      const known = await this.database.within(transaction, this.people).findOne({
        where: { issuer, subject },
        lock: { mode: 'pessimistic_write' },
      });
      if (known?.disabledAt) throw new PermissionError('An operator has disabled your access.');
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
    // Thrown after the commit, so that roles revoked by claims stay revoked.
    if (token === undefined) throw notInvited(identity);
    return token;
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
        // Anyone can claim an unverified address; storing it would pass them off as its owner.
        identity.isEmailVerified ? identity.email : null,
      ].map((text) => text && toStoredText(text)),
    );
    return rows[0]!.id;
  }

  /** Grants the invited role unless the person already has one there. */
  private async join(
    transaction: SqlExecutor,
    author: Author,
    { tenantId, role }: InvitationEntity,
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
    const claimed = await this.claimedMemberships(transaction, roles);
    const { rows: revoked } = await transaction.query<{ tenantId: string; role: string }>(
      `DELETE FROM memberships WHERE person_id = $1 AND by_claim AND tenant_id <> ALL ($2::uuid[])
       RETURNING tenant_id AS "tenantId", role`,
      [id, [...claimed.keys()]],
    );
    for (const { tenantId, role } of revoked) {
      await this.recordRole(transaction, author, tenantId, role, null);
    }
    for (const [tenantId, role] of claimed) {
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

  /** Returns roles by tenant id; the first one in the settings when claims give several at a tenant. */
  private async claimedMemberships(
    transaction: SqlExecutor,
    roles: Identity['roles'],
  ): Promise<Map<string, string>> {
    const claimed = new Map<string, string>();
    for (const { tenant, role } of roles) {
      if (tenant === undefined) continue;
      const { rows } = await transaction.query<{ id: string }>(
        `SELECT id FROM tenants WHERE name = $1 AND deleted_at IS NULL`,
        [toStoredText(tenant)],
      );
      const [found] = rows;
      if (!found) this.logger.warn(`GATEWAY_OIDC_ROLES names an unknown tenant: ${tenant}`);
      else if (!claimed.has(found.id)) claimed.set(found.id, role);
    }
    return claimed;
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

  /** @param tenantId null for an operator role */
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
      ? 'The login service has not verified your e-mail address, so invitations to it cannot be accepted. Verify it there first.'
      : 'You have no role here, and your e-mail address has no open invitation. Ask an owner of the tenant or an operator to invite you.',
    'email',
  );
}
