import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../../platform/config/app-config.js';
import { Database, type SqlExecutor } from '../../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../../platform/database/stored-text.js';
import { DEFAULT_RATE_LIMIT_PER_MINUTE } from '../../../platform/config/setting-values.js';
import type { OperatorRole } from '../roles.js';
import {
  hashToken,
  mintToken,
  type ActedFor,
  type Membership,
  type SessionOwner,
} from './session.js';

/** Longer values identify no browser. */
const MAX_USER_AGENT_LENGTH = 300;
/** Minimum seconds between updates of `last_seen_at`. */
const LAST_SEEN_PRECISION_SECONDS = 60;

/** A stored session with its owner's rights. */
export interface SessionRow {
  hash: string;
  id: string;
  personId: string | null;
  apiKeyId: string | null;
  adminKeyId: string | null;
  /** SHA-256 in hex of the tenant key or operator key that owns the session. */
  keyHash: string | null;
  adminKeyHash: string | null;
  name: string | null;
  email: string | null;
  operatorRole: OperatorRole | null;
  memberships: Membership[];
  /** Name of the tenant key's tenant. */
  keyTenant: string | null;
  lastSeenAt: Date;
  expiresAt: Date;
  /** When the session ended or its person was disabled. */
  endedAt: Date | null;
}

/** A session in a list. */
export interface ListedSession {
  id: string;
  userAgent: string | null;
  createdAt: Date;
  lastSeenAt: Date;
  expiresAt: Date;
}

/** SQL for the highest limit of a tenant's management keys, `$2` when it has none. */
const RATE_LIMIT = `(
  SELECT coalesce(max(rate_limit_per_minute), $2) FROM api_keys
   WHERE tenant_id = tenants.id AND type = 'management'
     AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
)`;
const OWNER_COLUMNS = { person: 'person_id', api_key: 'api_key_id', admin_key: 'admin_key_id' };

/** Stores sessions of people and keys. Of a token, only its hash is stored. */
@Injectable()
export class SessionRepository {
  private readonly idleSeconds: number;
  private readonly sessionSeconds: number;

  constructor(
    private readonly database: Database,
    @Inject(APP_CONFIG) { people }: Pick<AppConfig, 'people'>,
  ) {
    this.idleSeconds = people.sessionIdleMs / 1000;
    this.sessionSeconds = people.sessionMs / 1000;
  }

  /** Returns sessions by token hash in hex, ended ones included; unknown hashes have no row. */
  async findByHashes(hashes: readonly string[]): Promise<SessionRow[]> {
    const { rows } = await this.database.lookUps.query<SessionRow>(
      `SELECT encode(token_hash, 'hex') AS hash, sessions.id, sessions.person_id AS "personId",
              api_key_id AS "apiKeyId", admin_key_id AS "adminKeyId",
              encode(api_keys.key_hash, 'hex') AS "keyHash",
              encode(admin_keys.key_hash, 'hex') AS "adminKeyHash",
              key_tenants.name AS "keyTenant", people.name, people.email, operator_role AS "operatorRole",
              coalesce(member_of.memberships, '[]') AS memberships,
              last_seen_at AS "lastSeenAt", sessions.expires_at AS "expiresAt",
              coalesce(sessions.revoked_at, people.disabled_at) AS "endedAt"
         FROM sessions
         LEFT JOIN people ON people.id = person_id
         LEFT JOIN api_keys ON api_keys.id = api_key_id
         LEFT JOIN tenants key_tenants ON key_tenants.id = api_keys.tenant_id
         LEFT JOIN admin_keys ON admin_keys.id = admin_key_id
         LEFT JOIN LATERAL (
           SELECT json_agg(
                    json_build_object(
                      'tenantId', tenants.id, 'tenant', tenants.name, 'role', role,
                      'isSuspended', suspended_at IS NOT NULL,
                      'rateLimitPerMinute', ${RATE_LIMIT}
                    ) ORDER BY memberships.created_at, tenants.id
                  ) AS memberships
             FROM memberships JOIN tenants ON tenants.id = tenant_id
            WHERE memberships.person_id = people.id AND deleted_at IS NULL
         ) member_of ON true
        WHERE token_hash = ANY ($1::bytea[])`,
      [hashes.map((hash) => Buffer.from(hash, 'hex')), DEFAULT_RATE_LIMIT_PER_MINUTE],
    );
    return rows.map((row) => ({
      ...row,
      name: row.name && fromStoredText(row.name),
      keyTenant: row.keyTenant && fromStoredText(row.keyTenant),
      email: row.email && fromStoredText(row.email),
      memberships: row.memberships.map((one) => ({ ...one, tenant: fromStoredText(one.tenant) })),
    }));
  }

  /** Returns tenants by id; unknown and deleted ones have no row. */
  async findTenants(ids: readonly string[]): Promise<ActedFor[]> {
    const { rows } = await this.database.lookUps.query<ActedFor>(
      `SELECT id AS "tenantId", name AS tenant, suspended_at IS NOT NULL AS "isSuspended",
              ${RATE_LIMIT} AS "rateLimitPerMinute"
         FROM tenants WHERE id = ANY ($1::uuid[]) AND deleted_at IS NULL`,
      [ids, DEFAULT_RATE_LIMIT_PER_MINUTE],
    );
    return rows.map((row) => ({ ...row, tenant: fromStoredText(row.tenant) }));
  }

  /** Sets `last_seen_at`, at most once a minute. */
  async noteSeen(id: string): Promise<void> {
    await this.database.query(
      `UPDATE sessions SET last_seen_at = now()
        WHERE id = $1 AND last_seen_at < now() - make_interval(secs => $2)`,
      [id, LAST_SEEN_PRECISION_SECONDS],
    );
  }

  /**
   * Opens a session and ends the browser's previous one.
   *
   * @param before token of the previous session
   * @returns the new session's token, which is not stored
   */
  async open(
    transaction: SqlExecutor,
    owner: SessionOwner,
    { userAgent, before }: { userAgent: string | undefined; before: string | undefined },
  ): Promise<{ id: string; token: string }> {
    if (before !== undefined) {
      await transaction.query(
        `UPDATE sessions SET revoked_at = now()
          WHERE token_hash = decode($1, 'hex') AND revoked_at IS NULL`,
        [hashToken(before)],
      );
    }
    // Keeps a week of ended sessions.
    await transaction.query(`DELETE FROM sessions WHERE expires_at < now() - interval '7 days'`);
    const token = mintToken();
    const column = owner.kind === 'link' ? 'person_id' : OWNER_COLUMNS[owner.kind];
    const { rows } = await transaction.query<{ id: string }>(
      `INSERT INTO sessions (token_hash, ${column}, user_agent, expires_at)
       VALUES (decode($1, 'hex'), $2, $3, now() + make_interval(secs => $4)) RETURNING id`,
      [
        hashToken(token),
        owner.id,
        userAgent === undefined ? null : toStoredText(userAgent.slice(0, MAX_USER_AGENT_LENGTH)),
        this.sessionSeconds,
      ],
    );
    return { id: rows[0]!.id, token };
  }

  /** Returns the owner's open sessions, newest first. A link's session has no others. */
  async listOpen(session: { id: string; owner: SessionOwner }): Promise<ListedSession[]> {
    const { rows } = await this.database.query<ListedSession>(
      `SELECT id, user_agent AS "userAgent", created_at AS "createdAt",
              last_seen_at AS "lastSeenAt", expires_at AS "expiresAt"
         FROM sessions
        WHERE ${this.ofOwner(session)} AND revoked_at IS NULL AND expires_at > now()
          AND last_seen_at > now() - make_interval(secs => $2)
        ORDER BY created_at DESC, id LIMIT 200`,
      [session.owner.id ?? session.id, this.idleSeconds],
    );
    return rows.map((row) => ({
      ...row,
      userAgent: row.userAgent && fromStoredText(row.userAgent),
    }));
  }

  /**
   * Ends sessions of this session's owner.
   *
   * @param id one of them; undefined for all
   * @returns ids of the sessions that were open
   */
  async revoke(
    session: { id: string; owner: SessionOwner },
    id: string | undefined,
    executor: SqlExecutor = this.database,
  ): Promise<string[]> {
    const { rows } = await executor.query<{ id: string }>(
      `UPDATE sessions SET revoked_at = now()
        WHERE ${this.ofOwner(session)} AND revoked_at IS NULL AND ($2::uuid IS NULL OR id = $2)
        RETURNING id`,
      [session.owner.id ?? session.id, id ?? null],
    );
    return rows.map((row) => row.id);
  }

  private ofOwner({ owner }: { owner: SessionOwner }): string {
    return `${owner.kind === 'link' ? 'id' : OWNER_COLUMNS[owner.kind]} = $1`;
  }
}
