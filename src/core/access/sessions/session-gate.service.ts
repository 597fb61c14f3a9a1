import { Inject, Injectable, Logger } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../../platform/config/app-config.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { FreshDirectory } from '../../../platform/database/fresh-directory.js';
import {
  AuthenticationError,
  NotFoundError,
  PermissionError,
} from '../../../platform/errors/gateway-errors.js';
import { messageOf } from '../../../platform/errors/thrown.js';
import { originCookie, readCookie } from '../../../platform/http/cookies.js';
import { AdminKeyDirectory } from '../admin-key-directory.service.js';
import { apiKeyStatus } from '../api-key.entity.js';
import type { Caller, Operator } from '../caller.js';
import type { GatewayRequest } from '../gateway-request.js';
import { KeyDirectory, type ResolvedKey } from '../key-directory.service.js';
import { WrongKeys } from '../wrong-keys.js';
import { hasRight, ROLES_OF, strongest, type MemberRight } from '../roles.js';
import {
  csrfTokenOf,
  hashToken,
  isSameToken,
  isToken,
  type ActedFor,
  type Membership,
  type Session,
} from './session.js';
import { SessionRepository, type SessionRow } from './session.repository.js';

const SEEN_TO_THE_MS = 60_000;
/** The header in which a member of several tenants, or an operator, names one. */
const TENANT_HEADER = 'x-gateway-tenant';

type HeadOfRequest = Pick<GatewayRequest, 'headers' | 'method' | 'socket'> &
  Partial<Pick<GatewayRequest, 'res'>>;
/** Who calls for a tenant, and whether that may only read for now. */
export type SessionCaller = Pick<ResolvedKey, 'caller' | 'isSuspended'>;

type Identity = Pick<Session, 'owner' | 'actor' | 'key' | 'operatorRole'>;

/**
 * Whose session a request's cookie is, and what that may do. What was found out is remembered for less
 * than a second, as of keys: then a session that was ended, or a person that was disabled, is out.
 */
@Injectable()
export class SessionGate {
  private readonly logger = new Logger(SessionGate.name);
  /** By the token's hash. */
  private readonly sessions: FreshDirectory<SessionRow>;
  /** Those that operators act for, by id. */
  private readonly tenants: FreshDirectory<ActedFor>;
  private readonly idleMs: number;
  private readonly publicOrigin: string | undefined;
  private readonly isSecure: boolean;

  constructor(
    private readonly repository: SessionRepository,
    private readonly keys: KeyDirectory,
    private readonly adminKeys: AdminKeyDirectory,
    private readonly wrongKeys: WrongKeys,
    @Inject(APP_CONFIG) { http, people }: Pick<AppConfig, 'http' | 'people'>,
  ) {
    this.idleMs = people.sessionIdleMs;
    this.publicOrigin = http.publicUrl === undefined ? undefined : new URL(http.publicUrl).origin;
    this.isSecure = this.publicOrigin?.startsWith('https:') ?? false;
    this.sessions = new FreshDirectory<SessionRow>({
      read: async (hashes) => {
        const rows = await repository.findByHashes(hashes);
        for (const row of rows) this.noteSeen(row);
        return new Map(rows.map((row) => [row.hash, row]));
      },
      nameOf: ({ id }) => id,
    });
    this.tenants = new FreshDirectory<ActedFor>({
      read: async (ids) =>
        new Map((await repository.findTenants(ids)).map((tenant) => [tenant.tenantId, tenant])),
    });
  }

  /** A browser takes the prefix as a promise that no other host and no plain HTTP set the cookie. */
  cookieName(what: string): string {
    return `${this.isSecure ? '__Host-' : ''}gateway_${what}`;
  }

  /** As `Set-Cookie`; an empty value deletes it. */
  cookie(what: string, value: string, maxAgeMs: number): string {
    const maxAgeSeconds = value === '' ? 0 : Math.floor(maxAgeMs / 1000);
    return originCookie(this.cookieName(what), value, { isSecure: this.isSecure, maxAgeSeconds });
  }

  /** The token of the session that a request carries; undefined: none. */
  tokenOf({ headers }: Pick<HeadOfRequest, 'headers'>): string | undefined {
    const token = readCookie(headers.cookie, this.cookieName('session'));
    return token === undefined || token === '' ? undefined : token;
  }

  /**
   * The session of a request that carries one. A changing request has to come from this origin and to
   * know the session's CSRF token.
   *
   * @throws AuthenticationError when it has ended or there never was one
   * @throws PermissionError when another site may have sent the request
   */
  async sessionOf(request: HeadOfRequest): Promise<Session> {
    // Unlike answers to a key, those to a cookie may be kept by any cache on the way, and given to others.
    request.res?.setHeader('cache-control', 'no-store');
    const token = this.tokenOf(request) ?? '';
    const session = isToken(token) ? await this.resolve(token) : undefined;
    if (!session) {
      this.wrongKeys.note(request);
      throw new AuthenticationError('The session has ended. Log in again.');
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      this.assertSameOrigin(request);
      if (!isSameToken(session.csrfToken, request.headers['x-csrf-token'])) {
        throw new PermissionError(
          'A change by a session needs the header X-CSRF-Token with the csrf_token of GET /v1/auth/session.',
          'x-csrf-token',
        );
      }
    }
    return session;
  }

  /** @throws PermissionError when a page of another origin sent the request, by what the browser says */
  assertSameOrigin({ headers }: Pick<HeadOfRequest, 'headers'>): void {
    const site = headers['sec-fetch-site'];
    const { origin } = headers;
    // Browsers say it of https and of this machine only; else there is the Origin, as of each POST.
    const isOwn =
      site !== undefined
        ? site === 'same-origin'
        : origin === undefined || origin === this.publicOrigin || isOfHost(origin, headers.host);
    if (isOwn) return;
    throw new PermissionError('Pages of another origin may not do this.', 'origin');
  }

  /**
   * Who calls for a tenant.
   *
   * @param right of the handler; undefined: it is closed to sessions
   * @throws PermissionError; NotFoundError when an operator names a tenant that there is not
   */
  async callerIn(
    session: Session,
    { headers }: Pick<HeadOfRequest, 'headers'>,
    right: MemberRight | undefined,
  ): Promise<SessionCaller> {
    const wanted = headers[TENANT_HEADER];
    if (right === undefined || right === 'nobody') {
      throw new PermissionError('This path takes an API key, not a session.');
    }
    if (session.key) {
      if (wanted === undefined || wanted === session.key.caller.tenantId) return session.key;
      throw new PermissionError('The session is that of a key of another tenant.', TENANT_HEADER);
    }
    const { role, tenantId, tenant, rateLimitPerMinute, isSuspended } = await this.placeOf(
      session,
      wanted,
    );
    if (!hasRight(role, right)) {
      throw new PermissionError(
        `Your role at ${JSON.stringify(tenant)} is ${role}; this takes ${ROLES_OF[right].join(' or ')}.`,
      );
    }
    const { id, name } = session.actor;
    const caller: Caller = {
      tenantId,
      apiKeyId: id ?? session.id,
      keyType: 'management',
      keyName: name,
      rateLimitPerMinute,
      actingRole: role,
    };
    return { caller, isSuspended };
  }

  /**
   * The tenant that a request is for. Operators have to name it.
   *
   * @throws PermissionError, NotFoundError
   */
  private async placeOf(
    { memberships, operatorRole }: Session,
    wanted: string | string[] | undefined,
  ): Promise<Membership> {
    if (wanted === undefined) {
      const [first] = memberships;
      if (first) return first;
      throw new PermissionError(
        operatorRole
          ? 'An operator names the tenant to act for: X-Gateway-Tenant: <id of the tenant>.'
          : 'You are a member of no tenant; ask one of its owners to invite you.',
      );
    }
    const own = memberships.find(({ tenantId }) => tenantId === wanted);
    if (own) return operatorRole ? { ...own, role: strongest([own.role, operatorRole]) } : own;
    if (!operatorRole)
      throw new PermissionError('You are no member of this tenant.', TENANT_HEADER);
    const tenant =
      typeof wanted === 'string' && isUuid(wanted) ? await this.tenants.get(wanted) : undefined;
    if (!tenant) {
      throw new NotFoundError(TENANT_HEADER, 'There is no tenant with this id, or it was deleted.');
    }
    return { ...tenant, role: operatorRole };
  }

  /** @throws PermissionError when it is no operator's */
  operatorOf({ actor, operatorRole }: Session): Operator {
    if (operatorRole) return { actor, role: operatorRole };
    throw new PermissionError(
      'This path is for operators; your session is not one of an operator.',
    );
  }

  /** To be called after sessions were ended: they are out with the next request here. */
  forget(ids: readonly string[]): void {
    for (const id of ids) this.sessions.forget(id);
  }

  private async resolve(token: string): Promise<Session | undefined> {
    const row = await this.sessions.get(hashToken(token));
    const nowMs = Date.now();
    if (!row || row.endedAt || row.expiresAt.getTime() <= nowMs) return undefined;
    if (row.lastSeenAt.getTime() + this.idleMs <= nowMs) return undefined;
    const identity = await this.identify(row);
    if (!identity) return undefined;
    const { id, email, keyTenant, memberships, expiresAt } = row;
    return {
      id,
      email,
      keyTenant,
      memberships,
      expiresAt,
      csrfToken: csrfTokenOf(token),
      ...identity,
    };
  }

  /** Undefined: the key whose session it is has ended. */
  private async identify(row: SessionRow): Promise<Identity | undefined> {
    if (row.keyHash && row.apiKeyId) {
      const key = await this.keys.resolveHash(row.keyHash);
      if (key?.status !== 'active') return undefined;
      const { apiKeyId: id, keyName: name } = key.caller;
      return {
        owner: { kind: 'api_key', id },
        actor: { kind: 'api_key', id, name },
        key,
        operatorRole: null,
      };
    }
    if (row.adminKeyHash && row.adminKeyId) {
      const key = await this.adminKeys.resolveHash(row.adminKeyHash);
      if (!key || apiKeyStatus(key, Date.now()) !== 'active') return undefined;
      this.adminKeys.noteUse(key.id);
      const { id, name, role } = key;
      return {
        owner: { kind: 'admin_key', id },
        actor: { kind: 'admin_key', id, name },
        key: undefined,
        operatorRole: role,
      };
    }
    if (row.personId) {
      return {
        owner: { kind: 'person', id: row.personId },
        actor: { kind: 'person', id: row.personId, name: row.name ?? '' },
        key: undefined,
        operatorRole: row.operatorRole,
      };
    }
    return {
      owner: { kind: 'link', id: null },
      actor: { kind: 'command', id: row.id, name: 'login link' },
      key: undefined,
      operatorRole: 'admin',
    };
  }

  /** Waits for nothing. One that has been idle for too long stays so. */
  private noteSeen({ id, lastSeenAt, endedAt }: SessionRow): void {
    const idleMs = Date.now() - lastSeenAt.getTime();
    if (idleMs < SEEN_TO_THE_MS || idleMs >= this.idleMs || endedAt) return;
    this.repository.noteSeen(id).catch((error: unknown) => {
      this.logger.warn(`The use of a session could not be noted: ${messageOf(error)}`);
    });
  }
}

function isOfHost(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}
