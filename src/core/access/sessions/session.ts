import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Actor } from '../caller.js';
import type { ResolvedKey } from '../key-directory.service.js';
import type { ActingRole, OperatorRole } from '../roles.js';

/** A tenant that a session can act for. */
export interface ActedFor {
  readonly tenantId: string;
  readonly tenant: string;
  /** Highest limit of the tenant's management keys, which bounds the keys that members create. */
  readonly rateLimitPerMinute: number;
  /** True when the tenant is suspended and may only read. */
  readonly isSuspended: boolean;
}

/** A session's role at one tenant. */
export interface Membership extends ActedFor {
  readonly role: ActingRole;
}

/** The owner of a session; a `link` comes from the command line and opens one operator session. */
export type SessionOwner =
  | { readonly kind: 'person' | 'api_key' | 'admin_key'; readonly id: string }
  | { readonly kind: 'link'; readonly id: null };

/** A valid session and its rights. */
export interface Session {
  readonly id: string;
  readonly owner: SessionOwner;
  readonly actor: Actor;
  readonly email: string | null;
  /** The management key of a key's session. */
  readonly key: ResolvedKey | undefined;
  /** Name of that key's tenant. */
  readonly keyTenant: string | null;
  readonly operatorRole: OperatorRole | null;
  /** A person's memberships, oldest first. */
  readonly memberships: readonly Membership[];
  readonly expiresAt: Date;
  /** Expected in `X-CSRF-Token` of changing requests. */
  readonly csrfToken: string;
}

const TOKEN = /^[\w-]{43}$/;

/** Generates a token of 256 random bits, for sessions and login links. */
export function mintToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns whether a text has the format of a token. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Returns the SHA-256 in hex, the only form in which tokens are stored. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}

/** Derives the CSRF token from the session's token, so it is valid for this session only and needs no row. */
export function csrfTokenOf(token: string): string {
  return createHmac('sha256', token).update('csrf').digest('base64url');
}

/** Compares tokens in constant time. */
export function isSameToken(expected: string, given: unknown): boolean {
  if (typeof given !== 'string' || given.length !== expected.length) return false;
  return timingSafeEqual(Buffer.from(hashToken(expected)), Buffer.from(hashToken(given)));
}
