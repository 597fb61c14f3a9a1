import type { MappedRole, OidcConfig } from '../../platform/config/people-env.js';
import { PermissionError } from '../../platform/errors/gateway-errors.js';
import { oneLine } from '../../platform/text/one-line.js';
import { claimedAddress } from './email-address.js';

const MAX_NAME_LENGTH = 255;

/** Claims of an ID token, merged with those of the userinfo endpoint. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** A person as authenticated by the issuer. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  /** With A to Z in lower case; null when the issuer sends none. */
  readonly email: string | null;
  /** True when the issuer verified the address. Only verified addresses accept invitations. */
  readonly isEmailVerified: boolean;
  readonly roles: readonly MappedRole[];
}

/** @throws PermissionError when the domain of the e-mail address is not allowed */
export function identityOf(claims: Claims, oidc: OidcConfig): Identity {
  const email = claimedAddress(claims.email);
  // Some issuers send a string.
  const isEmailVerified =
    email !== null && (claims.email_verified === true || claims.email_verified === 'true');
  const { emailDomains, issuer } = oidc;
  if (emailDomains.length > 0) {
    const domain = isEmailVerified ? /@([^@]*)$/.exec(email)?.[1] : undefined;
    if (domain === undefined || !emailDomains.includes(domain)) {
      throw new PermissionError(
        'Login needs a verified e-mail address of an allowed domain. Ask an operator which domains are allowed.',
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

/** Cleans a claim up: people choose their own names, and others read them in lists, alerts and logs. */
function textOf(claim: unknown): string | undefined {
  return typeof claim === 'string' ? oneLine(claim, MAX_NAME_LENGTH) || undefined : undefined;
}
