import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { fromStoredText } from '../../platform/database/stored-text.js';
import { NotFoundError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { Author } from '../access/author.js';
import { AuditLog } from '../audit/audit-log.js';
import type { OperatorRole, TenantRole } from '../access/roles.js';
import { PersonEntity } from './person.entity.js';
import { SessionGate } from '../access/sessions/session-gate.service.js';
import { SessionRepository } from '../access/sessions/session.repository.js';

/** A person, created at the first login. */
export interface Person {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly issuer: string;
  readonly operatorRole: OperatorRole | null;
  readonly memberships: readonly { tenantId: string; tenant: string; role: TenantRole }[];
  readonly disabledAt: Date | null;
  readonly createdAt: Date;
  readonly lastLoginAt: Date | null;
}

/** Fields of a person to change; absent ones keep their value. */
export interface PersonChange {
  readonly operatorRole?: OperatorRole | null;
  readonly isDisabled?: boolean;
}

const PEOPLE = `
  SELECT id, name, email, issuer, operator_role AS "operatorRole", disabled_at AS "disabledAt",
         created_at AS "createdAt", last_login_at AS "lastLoginAt",
         coalesce((
           SELECT json_agg(
                    json_build_object('tenantId', tenants.id, 'tenant', tenants.name, 'role', role)
                    ORDER BY memberships.created_at, tenants.id
                  )
             FROM memberships JOIN tenants ON tenants.id = tenant_id
            WHERE person_id = people.id AND deleted_at IS NULL
         ), '[]') AS memberships
    FROM people`;

/** Lists and changes the people of all tenants, for operators. */
@Injectable()
export class PeopleService {
  constructor(
    @InjectRepository(PersonEntity) private readonly people: Repository<PersonEntity>,
    private readonly database: Database,
    private readonly sessions: SessionRepository,
    private readonly gate: SessionGate,
    private readonly audit: AuditLog,
  ) {}

  /** Returns a page of people, oldest first. @param after creation time and id of the previous page's last one */
  async list(limit: number, after?: string[]): Promise<Person[]> {
    const [createdAt = null, id = null] = after ?? [];
    const { rows } = await this.database.query<Person>(
      `${PEOPLE} WHERE $1::timestamptz IS NULL OR (created_at, id) > ($1, $2::uuid)
        ORDER BY created_at, id LIMIT $3`,
      [createdAt, id, limit],
    );
    return rows.map(readable);
  }

  /** @throws NotFoundError */
  async get(id: string, executor: SqlExecutor = this.database): Promise<Person> {
    const { rows } = await executor.query<Person>(`${PEOPLE} WHERE id = $1`, [id]);
    const person = rows.map(readable)[0];
    if (!person) throw new NotFoundError('id', 'No person has this id.');
    return person;
  }

  /** Changes a person. Claims no longer affect a role set here, and disabling ends all sessions. */
  async change(author: Author, id: string, change: PersonChange): Promise<Person> {
    const { person, ended } = await this.database.transaction(async (transaction) => {
      const people = this.database.within(transaction, this.people);
      await people.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
      const before = await this.get(id, transaction);
      if (change.operatorRole !== undefined) {
        const { operatorRole } = change;
        await people.update({ id }, { operatorRole, operatorByClaim: false });
      }
      if (change.isDisabled !== undefined) {
        const disabledAt = change.isDisabled ? () => 'coalesce(disabled_at, now())' : null;
        await people.update({ id }, { disabledAt });
      }
      const ended = change.isDisabled
        ? await this.sessions.revoke(sessionsOf(id), undefined, transaction)
        : [];
      const person = await this.get(id, transaction);
      const [was, is] = [audited(before), audited(person)];
      if (!isDeepStrictEqual(was, is)) {
        await this.audit.record(transaction, author, {
          tenantId: null,
          action: 'person.update',
          target: { type: 'person', id },
          before: was,
          after: is,
        });
      }
      return { person, ended };
    });
    this.gate.forget(ended);
    return person;
  }

  /** Ends a person's sessions. @returns the number of sessions ended */
  async endSessions(author: Author, id: string): Promise<number> {
    const ended = await this.database.transaction(async (transaction) => {
      await this.get(id, transaction);
      const sessions = await this.sessions.revoke(sessionsOf(id), undefined, transaction);
      if (sessions.length === 0) return sessions;
      await this.audit.record(transaction, author, {
        tenantId: null,
        action: 'person.end_sessions',
        target: { type: 'person', id },
        before: { open_sessions: sessions.length },
        after: { open_sessions: 0 },
      });
      return sessions;
    });
    this.gate.forget(ended);
    return ended.length;
  }
}

function sessionsOf(id: string): Parameters<SessionRepository['revoke']>[0] {
  return { id, owner: { kind: 'person', id } };
}

function audited({ name, operatorRole, disabledAt }: Person): JsonObject {
  return { name, operator_role: operatorRole, is_disabled: disabledAt !== null };
}

function readable(row: Person): Person {
  return {
    ...row,
    name: fromStoredText(row.name),
    email: row.email && fromStoredText(row.email),
    issuer: fromStoredText(row.issuer),
    memberships: row.memberships.map((one) => ({ ...one, tenant: fromStoredText(one.tenant) })),
  };
}
