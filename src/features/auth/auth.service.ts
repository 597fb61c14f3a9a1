import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import type { Server } from 'node:http';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { WrongKeys } from '../../core/access/wrong-keys.js';
import { identityOf } from '../../core/people/claims.js';
import { KeyLogin } from '../../core/people/key-login.service.js';
import { OidcClient } from '../../core/people/oidc-client.service.js';
import { PersonLogin, type Browser } from '../../core/people/person-login.service.js';
import { SessionGate } from '../../core/access/sessions/session-gate.service.js';
import { GIVEN_RIGHTS, RIGHTS_OF_OPERATOR, rightsOf, strongest } from '../../core/access/roles.js';
import { holdsRight } from '../../core/access/key-rights.js';
import { isToken, type Session } from '../../core/access/sessions/session.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { GatewayError } from '../../platform/errors/gateway-errors.js';
import { baseUrlOf } from '../../platform/http/base-url.js';
import type { SetCookie } from '../../platform/http/cookies.js';
import type { SessionDto } from './auth.dto.js';
import { LoginCookies, readReturnTo } from './login-cookies.js';

const CALLBACK_PATH = '/v1/auth/callback';
/** Failures caused by the caller count like wrong keys. */
const COUNTED = new Set([400, 401, 403]);

/** Exchanges proofs of identity for session cookies. */
@Injectable()
export class AuthService {
  constructor(
    @Inject(APP_CONFIG) private readonly config: AppConfig,
    private readonly adapter: HttpAdapterHost<AbstractHttpAdapter<Server>>,
    private readonly oidc: OidcClient,
    private readonly cookies: LoginCookies,
    private readonly people: PersonLogin,
    private readonly keys: KeyLogin,
    private readonly gate: SessionGate,
    private readonly wrongKeys: WrongKeys,
  ) {}

  get hasIssuer(): boolean {
    return this.config.people.oidc !== undefined;
  }

  /** Returns whether the browser sent a session cookie, valid or not. */
  carriesSession(request: GatewayRequest): boolean {
    return this.gate.tokenOf(request) !== undefined;
  }

  /** @returns URL of the issuer's login page */
  async begin(
    request: GatewayRequest,
    setCookie: SetCookie,
    returnTo: string | undefined,
  ): Promise<string> {
    const path = readReturnTo(returnTo);
    const { url, login } = await this.oidc.begin(this.redirectUri);
    setCookie(this.cookies.begin({ ...login, returnTo: path }, request.headers.cookie));
    return url;
  }

  /** @returns the path that the browser originally requested */
  async finish(request: GatewayRequest, setCookie: SetCookie): Promise<string> {
    // A login cookie can be replayed, and each callback calls the issuer three times.
    this.wrongKeys.refuseMany(request);
    return this.counted(request, async () => {
      const oidc = this.oidc.configured();
      const login = this.cookies.find(request.query.state, request.headers.cookie);
      // Single use, whatever the outcome.
      setCookie(this.cookies.end(login.state));
      const callback = new URL(this.redirectUri);
      callback.search = new URL(request.url, callback).search;
      const identity = identityOf(await this.oidc.finish(callback, login), oidc);
      const token = await this.people.logIn(identity, this.browserOf(request), request.requestId);
      this.setSession(setCookie, token);
      return login.returnTo;
    });
  }

  async byKey(request: GatewayRequest, setCookie: SetCookie, key: string): Promise<SessionDto> {
    return this.logIn(request, setCookie, (browser) =>
      this.keys.byKey(key, browser, request.requestId),
    );
  }

  async byLink(request: GatewayRequest, setCookie: SetCookie, link: string): Promise<SessionDto> {
    return this.logIn(request, setCookie, (browser) =>
      this.keys.byLink(link, browser, request.requestId),
    );
  }

  /** Deletes the browser's cookie. */
  clearSession(setCookie: SetCookie): void {
    setCookie(this.gate.cookie('session', '', 0));
  }

  /** Prevents login CSRF: another origin must not log the browser in. */
  private async logIn(
    request: GatewayRequest,
    setCookie: SetCookie,
    open: (browser: Browser) => Promise<string>,
  ): Promise<SessionDto> {
    return this.counted(request, async () => {
      this.gate.assertSameOrigin(request);
      const token = await open(this.browserOf(request));
      this.setSession(setCookie, token);
      const cookie = `${this.gate.cookieName('session')}=${token}`;
      const { socket } = request;
      return describeSession(
        await this.gate.sessionOf({ method: 'GET', headers: { cookie }, socket }),
      );
    });
  }

  private async counted<Result>(
    request: GatewayRequest,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof GatewayError && COUNTED.has(error.status)) this.wrongKeys.note(request);
      throw error;
    }
  }

  private browserOf(request: GatewayRequest): Browser {
    const before = this.gate.tokenOf(request);
    return {
      userAgent: request.headers['user-agent'],
      before: before !== undefined && isToken(before) ? before : undefined,
    };
  }

  private setSession(setCookie: SetCookie, token: string): void {
    const { sessionMs } = this.config.people;
    setCookie(this.gate.cookie('session', token, sessionMs));
  }

  private get redirectUri(): string {
    return baseUrlOf(this.adapter.httpAdapter.getHttpServer(), this.config) + CALLBACK_PATH;
  }
}

/** Describes a session for the console. */
export function describeSession(session: Session): SessionDto {
  const { key, keyTenant, actor, owner, memberships, operatorRole } = session;
  return {
    id: session.id,
    kind: owner.kind,
    name: actor.name,
    email: session.email,
    operator_role: operatorRole,
    operator_rights: operatorRole ? [...RIGHTS_OF_OPERATOR[operatorRole]] : [],
    tenants: key
      ? [
          {
            id: key.caller.tenantId,
            name: keyTenant ?? '',
            role: 'key',
            rights: GIVEN_RIGHTS.filter(
              (right) => right === 'any' || holdsRight(key.caller, right),
            ),
          },
        ]
      : memberships.map(({ tenantId, tenant, role }) => ({
          id: tenantId,
          name: tenant,
          role,
          rights: rightsOf(operatorRole ? strongest([role, operatorRole]) : role),
        })),
    operator_tenant_rights: operatorRole ? rightsOf(operatorRole) : [],
    csrf_token: session.csrfToken,
    expires_at: session.expiresAt.toISOString(),
  };
}
