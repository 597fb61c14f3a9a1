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

const LAST_SEEN_PRECISION_MS = 60_000;
/** Names the tenant to act for, for members of several tenants and for operators. */
const TENANT_HEADER = 'x-gateway-tenant';

type HeadOfRequest = Pick<GatewayRequest, 'headers' | 'method' | 'socket'> &
  Partial<Pick<GatewayRequest, 'res'>>;
/** The caller that a session acts as for a tenant. */
export type SessionCaller = Pick<ResolvedKey, 'caller' | 'isSuspended'>;

type Identity = Pick<Session, 'owner' | 'actor' | 'key' | 'operatorRole'>;

/**
 * Authenticates session cookies and resolves their rights. Rows are cached for less than a second, as
 * for keys, so ended sessions and disabled people lose access in that time.
 */
@Injectable()
export class SessionGate {
  private readonly logger = new Logger(SessionGate.name);
  /** By token hash. */
  private readonly sessions: FreshDirectory<SessionRow>;
  /** Tenants that operators act for, by id. */
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

  /** With `__Host-`, browsers guarantee that no other host and no plain HTTP response set the cookie. */
  cookieName(what: string): string {
    return `${this.isSecure ? '__Host-' : ''}gateway_${what}`;
  }

  /** Returns a `Set-Cookie` value; an empty `value` deletes the cookie. */
  cookie(what: string, value: string, maxAgeMs: number): string {
    const maxAgeSeconds = value === '' ? 0 : Math.floor(maxAgeMs / 1000);
    return originCookie(this.cookieName(what), value, { isSecure: this.isSecure, maxAgeSeconds });
  }

  /** Returns the session token of a request; undefined when it carries none. */
  tokenOf({ headers }: Pick<HeadOfRequest, 'headers'>): string | undefined {
    const token = readCookie(headers.cookie, this.cookieName('session'));
    return token === undefined || token === '' ? undefined : token;
  }

  /**
   * Returns a request's session. Changes must come from this origin and carry the session's CSRF
   * token.
   *
   * @throws AuthenticationError when the session ended or never existed
   * @throws PermissionError when another site may have sent the request
   */
  async sessionOf(request: HeadOfRequest): Promise<Session> {
    // Shared caches may store responses to cookies, unlike responses to `Authorization`.
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
          'Changes with a session need the header `X-CSRF-Token` with the `csrf_token` of GET /v1/auth/session.',
          'x-csrf-token',
        );
      }
    }
    return session;
  }

  /** @throws PermissionError when the browser's headers say that a page of another origin sent the request */
  assertSameOrigin({ headers }: Pick<HeadOfRequest, 'headers'>): void {
    const site = headers['sec-fetch-site'];
    const { origin } = headers;
    // Browsers send Sec-Fetch-Site over HTTPS and from localhost only, but Origin with every POST.
    const isOwn =
      site !== undefined
        ? site === 'same-origin'
        : origin === undefined || origin === this.publicOrigin || isOfHost(origin, headers.host);
    if (isOwn) return;
    throw new PermissionError('Requests from pages of another origin are refused.', 'origin');
  }

  /**
   * Returns the caller that a session acts as.
   *
   * @param right required by the handler; undefined when it is closed to sessions
   * @throws PermissionError, or NotFoundError when an operator names an unknown tenant
   */
  async callerIn(
    session: Session,
    { headers }: Pick<HeadOfRequest, 'headers'>,
    right: MemberRight | undefined,
  ): Promise<SessionCaller> {
    const requested = headers[TENANT_HEADER];
    if (right === undefined || right === 'keyOnly') {
      throw new PermissionError('This path accepts API keys only, not sessions.');
    }
    if (session.key) {
      if (requested === undefined || requested === session.key.caller.tenantId) return session.key;
      throw new PermissionError("The session's key belongs to another tenant.", TENANT_HEADER);
    }
    const { role, tenantId, tenant, rateLimitPerMinute, isSuspended } = await this.membershipFor(
      session,
      requested,
    );
    if (!hasRight(role, right)) {
      throw new PermissionError(
        `Your role at ${JSON.stringify(tenant)} is ${role}. This needs ${ROLES_OF[right].join(' or ')}.`,
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
   * Returns the session's role at the requested tenant, by default the first one. Operators must name
   * a tenant.
   *
   * @throws PermissionError, NotFoundError
   */
  private async membershipFor(
    { memberships, operatorRole }: Session,
    requested: string | string[] | undefined,
  ): Promise<Membership> {
    if (requested === undefined) {
      const [first] = memberships;
      if (first) return first;
      throw new PermissionError(
        operatorRole
          ? 'Operators must name the tenant to act for: `X-Gateway-Tenant: <id of the tenant>`.'
          : 'You are not a member of any tenant. Ask an owner of one to invite you.',
      );
    }
    const own = memberships.find(({ tenantId }) => tenantId === requested);
    if (own) return operatorRole ? { ...own, role: strongest([own.role, operatorRole]) } : own;
    if (!operatorRole)
      throw new PermissionError('You are not a member of this tenant.', TENANT_HEADER);
    const tenant =
      typeof requested === 'string' && isUuid(requested)
        ? await this.tenants.get(requested)
        : undefined;
    if (!tenant) {
      throw new NotFoundError(TENANT_HEADER, 'No tenant has this id, or it was deleted.');
    }
    return { ...tenant, role: operatorRole };
  }

  /** @throws PermissionError unless the session belongs to an operator */
  operatorOf({ actor, operatorRole }: Session): Operator {
    if (operatorRole) return { actor, role: operatorRole };
    throw new PermissionError('This path is for operators, and your session is not an operator’s.');
  }

  /** Drops ended sessions from the cache. Call it after the commit. */
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

  /** Returns the session's principal; undefined when its key has ended. */
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

  /** Updates `last_seen_at` without waiting. A session past its idle timeout stays ended. */
  private noteSeen({ id, lastSeenAt, endedAt }: SessionRow): void {
    const idleMs = Date.now() - lastSeenAt.getTime();
    if (idleMs < LAST_SEEN_PRECISION_MS || idleMs >= this.idleMs || endedAt) return;
    this.repository.noteSeen(id).catch((error: unknown) => {
      this.logger.warn(`session use not recorded: ${messageOf(error)}`);
    });
  }
}

function isOfHost(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}
