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

/** Timeout of each request to the issuer. */
const TIMEOUT_SECONDS = 5;
const RETRY_AFTER_SECONDS = 5;
/** Limit of a response of the issuer; metadata, keys and userinfo take a few kilobytes. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** Limit in OpenID Connect. */
const MAX_SUBJECT_LENGTH = 255;
/** Lifetime of cached issuer metadata. */
const METADATA_TTL_MS = 60_000;
/** Error codes of openid-client when the issuer does not answer, or not as an OpenID provider. */
const UNAVAILABLE_CODES = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
]);

/** State of a login, needed again when the browser returns from the issuer. */
export interface PendingLogin {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The OpenID issuer is unreachable or does not answer as one. */
class IssuerUnavailableError extends GatewayError {
  constructor() {
    super({
      status: 503,
      type: 'provider_unavailable',
      param: 'issuer',
      message:
        'The login service is unavailable. Try again in a few seconds, or log in with a key.',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}

/**
 * Logs people in at an OpenID Connect issuer with authorization code, PKCE, state and nonce. Issuer discovery
 * and loading the client package wait for the first login, to keep startup fast.
 */
@Injectable()
export class OidcClient {
  private readonly logger = new Logger(OidcClient.name);
  private readonly oidc: OidcConfig | undefined;
  private cached: { readonly sinceMs: number; readonly issuer: Promise<Configuration> } | undefined;

  constructor(@Inject(APP_CONFIG) { people }: Pick<AppConfig, 'people'>) {
    this.oidc = people.oidc;
  }

  /** Starts a login. @returns the URL for the browser and the state to keep until it returns to `redirectUri` */
  async begin(redirectUri: string): Promise<{ url: string; login: PendingLogin }> {
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
   * Finishes a login and returns the person's claims. Reads the issuer's metadata and keys again, since they
   * may have changed.
   *
   * @param callback redirect URI with the query it was called with
   * @throws AuthenticationError when the response is forged, expired or belongs to another login
   */
  async finish(callback: URL, { state, nonce, verifier }: PendingLogin): Promise<Claims> {
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
        throw new AuthenticationError(
          'The login service sent no ID token with a valid subject. Ask an operator to check its configuration.',
        );
      }
      const isComplete =
        claims.email !== undefined &&
        (oidc.roles.length === 0 || claims[oidc.rolesClaim] !== undefined);
      if (isComplete || !issuer.serverMetadata().userinfo_endpoint) return claims;
      const more = await client.fetchUserInfo(issuer, tokens.access_token, claims.sub);
      // Signed claims take precedence, and `email_verified` must come from the same source as `email`.
      const { email, email_verified } = claims.email === undefined ? more : claims;
      return { ...more, ...claims, email, email_verified };
    });
  }

  /** @throws NotFoundError when no issuer is configured */
  configured(): OidcConfig {
    if (this.oidc) return this.oidc;
    throw new NotFoundError(
      'path',
      'No login service is configured here (GATEWAY_OIDC_ISSUER). Log in with a key.',
    );
  }

  private recentIssuer(oidc: OidcConfig): Promise<Configuration> {
    const nowMs = performance.now();
    if (this.cached && nowMs - this.cached.sinceMs < METADATA_TTL_MS) return this.cached.issuer;
    const fresh = { sinceMs: nowMs, issuer: this.findIssuer(oidc) };
    this.cached = fresh;
    fresh.issuer.catch(() => {
      if (this.cached === fresh) this.cached = undefined;
    });
    return fresh.issuer;
  }

  private async findIssuer({ issuer, clientId, clientSecret }: OidcConfig): Promise<Configuration> {
    const client = await import('openid-client');
    const url = new URL(issuer);
    return client.discovery(url, clientId, clientSecret, undefined, {
      timeout: TIMEOUT_SECONDS,
      [client.customFetch]: fetchLimited,
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
      this.logger.warn(`login failed at the issuer: ${describe(error)}`);
      if (isUnavailable(error)) throw new IssuerUnavailableError();
      throw new AuthenticationError(
        'The login service did not confirm this login, which may have expired. Start again.',
      );
    }
  }
}

/** Fetches a response and its body. @throws TypeError beyond the size limit, like a network failure */
async function fetchLimited(url: string, options: RequestInit): Promise<Response> {
  const response = await fetch(url, options);
  const body: AsyncIterable<Uint8Array> | null = response.body;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > MAX_RESPONSE_BYTES) throw new TypeError('response exceeds 1 MiB');
    pieces.push(piece);
  }
  return new Response(bytes === 0 ? null : Buffer.concat(pieces), response);
}

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  if (typeof code === 'string') return UNAVAILABLE_CODES.has(code);
  // Thrown by fetch when the connection fails.
  return error instanceof TypeError;
}

/** Describes an error without the issuer's response, which may contain tokens. */
function describe(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  const word = error instanceof Error && 'error' in error ? `: ${String(error.error)}` : '';
  return `${messageOf(error)}${code}${word}`;
}
