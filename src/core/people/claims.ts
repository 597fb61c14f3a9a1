import type { MappedRole, OidcConfig } from '../../platform/config/people-env.js';
import { PermissionError } from '../../platform/errors/gateway-errors.js';
import { oneLine } from '../../platform/text/one-line.js';
import { claimedAddress } from './email-address.js';

const MAX_NAME_LENGTH = 255;

/** What an issuer says of somebody: the members of the ID token, and of its userinfo. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** Somebody who has logged in at the issuer. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  /** With A to Z in lower case; null when the issuer gives none. */
  readonly email: string | null;
  /** Whether the issuer has seen that mail to this address reaches them; only then does it open an invitation. */
  readonly isEmailVerified: boolean;
  readonly roles: readonly MappedRole[];
}

/** @throws PermissionError for an e-mail address of a domain that may not log in */
export function identityOf(claims: Claims, oidc: OidcConfig): Identity {
  const email = claimedAddress(claims.email);
  // Some issuers spell it as a text.
  const isEmailVerified =
    email !== null && (claims.email_verified === true || claims.email_verified === 'true');
  const { emailDomains, issuer } = oidc;
  if (emailDomains.length > 0) {
    const domain = isEmailVerified ? /@([^@]*)$/.exec(email)?.[1] : undefined;
    if (domain === undefined || !emailDomains.includes(domain)) {
      throw new PermissionError(
        'Only verified e-mail addresses of some domains may log in here; yours is none of them.',
        'email',
      );
    }
  }
  const name =
    textOf(claims.name) ??
    textOf(claims.preferred_username) ??
    (isEmailVerified ? email : null) ??
    oneLine(claims.sub, MAX_NAME_LENGTH);
  return {
    issuer,
    subject: claims.sub,
    name,
    email,
    isEmailVerified,
    roles: rolesOf(claims[oidc.rolesClaim], oidc.roles),
  };
}

function rolesOf(claim: unknown, roles: readonly MappedRole[]): MappedRole[] {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return roles.filter(({ value }) => values.includes(value));
}

/** People choose their names at the issuer, and others read them in lists, alerts and the audit log. */
function textOf(claim: unknown): string | undefined {
  return typeof claim === 'string' ? oneLine(claim, MAX_NAME_LENGTH) || undefined : undefined;
}
