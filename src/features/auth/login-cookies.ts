import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { gatewaySecrets } from '../../platform/config/gateway-secret.js';
import { SecretBox } from '../../platform/crypto/secret-box.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { cookiesOf } from '../../platform/http/cookies.js';
import type { PendingLogin } from '../../core/people/oidc-client.service.js';
import { SessionGate } from '../../core/access/sessions/session-gate.service.js';

const LOGIN_LASTS_MS = 600_000;
/** Maximum number of open logins. Older ones are dropped to bound the request headers. */
const MAX_OPEN_LOGINS = 5;
/** Characters of the state in the cookie name. */
const NAME_LENGTH = 16;

/** A login in progress. */
export interface OpenLogin extends PendingLogin {
  readonly returnTo: string;
}

/**
 * Stores each login in progress in its own encrypted cookie for ten minutes, so that two windows
 * can log in at once.
 */
@Injectable()
export class LoginCookies {
  private readonly box: SecretBox;

  constructor(
    private readonly gate: SessionGate,
    @Inject(APP_CONFIG) config: AppConfig,
  ) {
    this.box = new SecretBox(() => gatewaySecrets(config), 'login');
  }

  /** Returns `Set-Cookie` headers for a new login. */
  begin(login: OpenLogin, cookies: string | undefined): string[] {
    const value = JSON.stringify({ ...login, endsAtMs: Date.now() + LOGIN_LASTS_MS });
    const encrypted = this.box.encrypt(value, login.state).toString('base64url');
    const prefix = this.gate.cookieName('login_');
    const open = cookiesOf(cookies ?? '').filter(([name]) => name.startsWith(prefix));
    const forgotten = open.length < MAX_OPEN_LOGINS ? [] : open;
    return [
      ...forgotten.map(([name]) => this.gate.cookie(`login_${name.slice(prefix.length)}`, '', 0)),
      this.gate.cookie(nameOf(login.state), encrypted, LOGIN_LASTS_MS),
    ];
  }

  /**
   * Returns the login of a state.
   * @throws InvalidRequestError (`state`) when this browser did not start it, or more than ten
   * minutes ago
   */
  find(state: unknown, cookies: string | undefined): OpenLogin {
    const known = typeof state === 'string' && state.length >= NAME_LENGTH ? state : undefined;
    const name = known && this.gate.cookieName(nameOf(known));
    const encrypted = cookiesOf(cookies ?? '').find(([each]) => each === name)?.[1];
    const login = known && encrypted ? this.open(known, encrypted) : undefined;
    if (login && login.state === known && login.endsAtMs > Date.now()) return login;
    throw new InvalidRequestError(
      'state',
      'This login was not started in this browser, or more than ten minutes ago. Log in again.',
    );
  }

  /** Returns the `Set-Cookie` header that deletes a login. */
  end(state: string): string {
    return this.gate.cookie(nameOf(state), '', 0);
  }

  private open(state: string, encrypted: string): (OpenLogin & { endsAtMs: number }) | undefined {
    try {
      const text = this.box.decrypt(Buffer.from(encrypted, 'base64url'), state);
      // Authenticated encryption: only we can have written it.
      return JSON.parse(text) as OpenLogin & { endsAtMs: number };
    } catch {
      return undefined;
    }
  }
}

function nameOf(state: string): string {
  return `login_${state.slice(0, NAME_LENGTH)}`;
}

/**
 * Returns a path of this origin.
 * @throws InvalidRequestError (`return_to`) for anything that a browser would resolve to another
 * origin
 */
export function readReturnTo(text: string | undefined): string {
  if (text === undefined) return '/';
  const here = 'http://here.invalid';
  // Browsers drop tabs and line breaks, and treat a backslash as a slash.
  const isPath = /^\/[\x21-\x5b\x5d-\x7e]*$/.test(text) && URL.canParse(text, here);
  if (isPath && !text.startsWith('//')) {
    const { origin, pathname, search, hash } = new URL(text, here);
    // `/.//elsewhere` becomes `//elsewhere`.
    if (origin === here && !pathname.startsWith('//')) return pathname + search + hash;
  }
  throw new InvalidRequestError(
    'return_to',
    'return_to must be a path of this origin, such as /logs.',
  );
}
