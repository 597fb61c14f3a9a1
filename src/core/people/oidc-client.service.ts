import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Configuration } from 'openid-client';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import type { OidcConfig } from '../../platform/config/people-env.js';
import {
  AuthenticationError,
  GatewayError,
  NotFoundError,
} from '../../platform/errors/gateway-errors.js';
import { messageOf } from '../../platform/errors/thrown.js';
import type { Claims } from './claims.js';

/** Of each request to the issuer. */
const TIMEOUT_SECONDS = 5;
const RETRY_AFTER_SECONDS = 5;
/** Of an answer of the issuer; what one says of itself, its keys and a person takes a few kilobytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** OpenID Connect has a subject no longer. */
const MAX_SUBJECT_LENGTH = 255;
/** What the issuer says of itself is asked for again after so long. */
const FOUND_FOR_MS = 60_000;
/** Codes of openid-client which say that the issuer did not answer, or not as one. */
const AWAY = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
]);

/** What a login needs to know again when the browser comes back from the issuer. */
export interface BegunLogin {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The issuer of OpenID Connect cannot be reached, or answers as none. */
class IssuerAwayError extends GatewayError {
  constructor() {
    super({
      status: 503,
      type: 'provider_unavailable',
      param: 'issuer',
      message: 'The login service does not answer. Try again in a moment, or log in with a key.',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}

/**
 * Login at an issuer of OpenID Connect: authorization code with PKCE, state and nonce. The issuer is looked
 * for at the first login, and its package loaded then, so that neither costs a start anything.
 */
@Injectable()
export class OidcClient {
  private readonly logger = new Logger(OidcClient.name);
  private readonly oidc: OidcConfig | undefined;
  private found: { readonly sinceMs: number; readonly issuer: Promise<Configuration> } | undefined;

  constructor(@Inject(APP_CONFIG) { people }: Pick<AppConfig, 'people'>) {
    this.oidc = people.oidc;
  }

  /** @returns where to send the browser, and what to know when it comes back to `redirectUri` */
  async begin(redirectUri: string): Promise<{ url: string; login: BegunLogin }> {
    const oidc = this.configured();
    const client = await import('openid-client');
    const issuer = await this.atIssuer(() => this.recentIssuer(oidc));
    const login = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const url = client.buildAuthorizationUrl(issuer, {
      redirect_uri: redirectUri,
      scope: oidc.scopes,
      state: login.state,
      nonce: login.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(login.verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, login };
  }

  /**
   * Who the browser comes back as. The issuer and its keys are asked for anew, as it may have changed them.
   *
   * @param callback the redirect URI with the query that it was called with
   * @throws AuthenticationError for an answer that is not the issuer's, to this login, or is too old
   */
  async finish(callback: URL, { state, nonce, verifier }: BegunLogin): Promise<Claims> {
    const oidc = this.configured();
    const client = await import('openid-client');
    return this.atIssuer(async () => {
      const issuer = await this.findIssuer(oidc);
      const tokens = await client.authorizationCodeGrant(issuer, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims: Claims | undefined = tokens.claims();
      if (!claims?.sub || claims.sub.length > MAX_SUBJECT_LENGTH) {
        throw new AuthenticationError('The login service sent no ID token that names somebody.');
      }
      const isComplete =
        claims.email !== undefined &&
        (oidc.roles.length === 0 || claims[oidc.rolesClaim] !== undefined);
      if (isComplete || !issuer.serverMetadata().userinfo_endpoint) return claims;
      const more = await client.fetchUserInfo(issuer, tokens.access_token, claims.sub);
      // What is signed wins, and whether an address is verified is said of that address alone.
      const { email, email_verified } = claims.email === undefined ? more : claims;
      return { ...more, ...claims, email, email_verified };
    });
  }

  /** @throws NotFoundError where no issuer is configured */
  configured(): OidcConfig {
    if (this.oidc) return this.oidc;
    throw new NotFoundError(
      'path',
      'No login service is configured here (GATEWAY_OIDC_ISSUER). Log in with a key.',
    );
  }

  private recentIssuer(oidc: OidcConfig): Promise<Configuration> {
    const nowMs = performance.now();
    if (this.found && nowMs - this.found.sinceMs < FOUND_FOR_MS) return this.found.issuer;
    const found = { sinceMs: nowMs, issuer: this.findIssuer(oidc) };
    this.found = found;
    found.issuer.catch(() => {
      if (this.found === found) this.found = undefined;
    });
    return found.issuer;
  }

  private async findIssuer({ issuer, clientId, clientSecret }: OidcConfig): Promise<Configuration> {
    const client = await import('openid-client');
    const url = new URL(issuer);
    return client.discovery(url, clientId, clientSecret, undefined, {
      timeout: TIMEOUT_SECONDS,
      [client.customFetch]: fetchShort,
      execute: [
        client.enableNonRepudiationChecks,
        ...(url.protocol === 'http:' ? [client.allowInsecureRequests] : []),
      ],
    });
  }

  private async atIssuer<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      this.logger.warn(`Login at the issuer failed: ${describe(error)}`);
      if (isAway(error)) throw new IssuerAwayError();
      throw new AuthenticationError(
        'The login service did not confirm this login; it may have taken too long. Begin again.',
      );
    }
  }
}

/** As `fetch` does, but for an answer that is whole, and short. @throws TypeError for a long one, as for none */
async function fetchShort(url: string, options: RequestInit): Promise<Response> {
  const response = await fetch(url, options);
  const body: AsyncIterable<Uint8Array> | null = response.body;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > MAX_ANSWER_BYTES) throw new TypeError('an answer of more than a megabyte');
    pieces.push(piece);
  }
  return new Response(bytes === 0 ? null : Buffer.concat(pieces), response);
}

function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  if (typeof code === 'string') return AWAY.has(code);
  // What fetch throws when there is no connection.
  return error instanceof TypeError;
}

/** Without what the issuer sent, which may hold tokens. */
function describe(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  const word = error instanceof Error && 'error' in error ? `: ${String(error.error)}` : '';
  return `${messageOf(error)}${code}${word}`;
}
