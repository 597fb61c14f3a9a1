import { asciiLowerCase } from '../text/ascii-lower-case.js';
import { IsOptional } from 'class-validator';
import { isIP } from 'node:net';
import { readPairs } from './setting-values.js';
import { Describe, IntegerVariable, checked } from './variable.decorators.js';

/** A year. */
const MAX_SESSION_HOURS = 8_760;
const MINUTE_MS = 60_000;
const DEFAULT_SCOPES = 'openid email profile';
const DOMAIN = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/;
const MAPPED_ROLE = /^(?:admin|auditor|.+:(?:owner|developer|viewer|billing))$/s;

/** Variables of sessions and of the OpenID Connect issuer. */
export class PeopleEnv {
  @Describe(
    'OpenID Connect issuer for logins, discovered through its `/.well-known/openid-configuration`. `https`, or `http` on this machine; see [people.md](people.md)',
    { without: 'people can log in with keys only', example: 'https://login.example/realms/acme' },
  )
  @IssuerVariable()
  GATEWAY_OIDC_ISSUER?: string;

  @Describe('The client id', { example: 'model-gateway' })
  @IsOptional()
  GATEWAY_OIDC_CLIENT_ID?: string;

  @Describe('The client secret', {
    without: 'the gateway is a public client with PKCE',
    example: 'b7T4…',
    isSecret: true,
  })
  @IsOptional()
  GATEWAY_OIDC_CLIENT_SECRET?: string;

  @Describe('Requested scopes, separated by spaces; must include `openid`', {
    default: DEFAULT_SCOPES,
    example: 'openid email profile groups',
  })
  @ScopesVariable()
  GATEWAY_OIDC_SCOPES?: string;

  @Describe('Comma-separated domains of verified email addresses allowed to log in', {
    without: 'any; unverified addresses too if their role comes from a claim',
    example: 'acme.example, acme.test',
  })
  @DomainsVariable()
  GATEWAY_OIDC_EMAIL_DOMAINS?: string;

  @Describe('Claim whose value or values `GATEWAY_OIDC_ROLES` maps', {
    default: 'groups',
    example: 'roles',
  })
  @IsOptional()
  GATEWAY_OIDC_ROLES_CLAIM?: string;

  @Describe(
    'Maps values of that claim to roles: `value=admin` or `value=auditor` for operators, `value=<tenant>:<role>` for members; percent-encoded, comma-separated',
    {
      without: 'people need an invitation',
      example: 'gateway-admins=admin,acme-developers=acme:developer',
    },
  )
  @RolesVariable()
  GATEWAY_OIDC_ROLES?: string;

  @Describe('Idle timeout of a session, in minutes', {
    default: '480',
    example: '60',
  })
  @IntegerVariable(5, MAX_SESSION_HOURS * 60)
  GATEWAY_SESSION_IDLE_MINUTES?: number;

  @Describe('Maximum duration of a session, in hours', { default: '168', example: '12' })
  @IntegerVariable(1, MAX_SESSION_HOURS)
  GATEWAY_SESSION_HOURS?: number;
}

/** A role that a claim value grants. */
export interface MappedRole {
  readonly value: string;
  /** A tenant's name; undefined for operator roles. */
  readonly tenant: string | undefined;
  readonly role: string;
}

/** Settings for logging in, and how long sessions last. */
export interface PeopleConfig {
  readonly sessionIdleMs: number;
  readonly sessionMs: number;
  /** Undefined: log-in with keys only. */
  readonly oidc: OidcConfig | undefined;
}

/** The OpenID Connect issuer and the meaning of its claims. */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly scopes: string;
  /** In lower case; empty: all. */
  readonly emailDomains: readonly string[];
  readonly rolesClaim: string;
  readonly roles: readonly MappedRole[];
}

/** Returns which variables are missing or useless. */
export function incompletePeople(env: PeopleEnv): string[] {
  if (env.GATEWAY_OIDC_ISSUER) {
    return env.GATEWAY_OIDC_CLIENT_ID
      ? []
      : ['GATEWAY_OIDC_CLIENT_ID must be set when GATEWAY_OIDC_ISSUER is'];
  }
  const others = Object.entries(env).filter(
    ([name, value]) => name.startsWith('GATEWAY_OIDC_') && value !== undefined,
  );
  return others.map(([name]) => `GATEWAY_OIDC_ISSUER must be set when ${name} is`);
}

export function peopleOf(env: PeopleEnv): PeopleConfig {
  return {
    sessionIdleMs: (env.GATEWAY_SESSION_IDLE_MINUTES ?? 480) * MINUTE_MS,
    sessionMs: (env.GATEWAY_SESSION_HOURS ?? 168) * 60 * MINUTE_MS,
    oidc: oidcOf(env),
  };
}

function oidcOf(env: PeopleEnv): OidcConfig | undefined {
  const { GATEWAY_OIDC_ISSUER: issuer, GATEWAY_OIDC_CLIENT_ID: clientId } = env;
  if (!issuer || !clientId) return undefined;
  return {
    issuer,
    clientId,
    clientSecret: env.GATEWAY_OIDC_CLIENT_SECRET,
    scopes: env.GATEWAY_OIDC_SCOPES ?? DEFAULT_SCOPES,
    emailDomains: readDomains(env.GATEWAY_OIDC_EMAIL_DOMAINS ?? '') ?? [],
    rolesClaim: env.GATEWAY_OIDC_ROLES_CLAIM ?? 'groups',
    roles: readRoles(env.GATEWAY_OIDC_ROLES ?? '') ?? [],
  };
}

/** Parses `value=role,value=<tenant>:role`; undefined when malformed. */
function readRoles(text: string): MappedRole[] | undefined {
  const pairs = readPairs(text);
  if (!pairs) return undefined;
  const roles: MappedRole[] = [];
  for (const [name, meaning] of Object.entries(pairs)) {
    if (!MAPPED_ROLE.test(meaning)) return undefined;
    const colon = meaning.lastIndexOf(':');
    const tenant = colon === -1 ? undefined : meaning.slice(0, colon);
    let value: string;
    try {
      value = decodeURIComponent(name);
    } catch {
      return undefined;
    }
    roles.push({ value, tenant, role: meaning.slice(colon + 1) });
  }
  return roles;
}

function readDomains(text: string): string[] | undefined {
  const domains = text
    .split(',')
    .map((each) => asciiLowerCase(each.trim()))
    .filter((each) => each !== '');
  return domains.every((domain) => DOMAIN.test(domain)) ? domains : undefined;
}

function RolesVariable(): PropertyDecorator {
  return checked(
    'isRoles',
    'must be a list of value=role, with commas between them, where a role is admin, auditor, or <tenant>:owner, developer, viewer or billing',
    (value) => readRoles(value) !== undefined,
  );
}

function DomainsVariable(): PropertyDecorator {
  return checked(
    'isDomains',
    'must be a list of domains such as acme.example, with commas between them',
    (value) => readDomains(value) !== undefined,
  );
}

function ScopesVariable(): PropertyDecorator {
  return checked(
    'isScopes',
    'must be scopes with spaces between them, openid among them',
    (value) => value.split(' ').includes('openid'),
  );
}

function IssuerVariable(): PropertyDecorator {
  return checked('isIssuer', 'must be an https URL, or an http one of this machine', (value) => {
    if (!URL.canParse(value)) return false;
    const { protocol, hostname } = new URL(value);
    return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  });
}

function isLoopback(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === '::1' || hostname === 'localhost';
}
