import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Actor } from '../caller.js';
import type { ResolvedKey } from '../key-directory.service.js';
import type { ActingRole, OperatorRole } from '../roles.js';

/** A tenant that somebody acts for who is logged in. */
export interface ActedFor {
  readonly tenantId: string;
  readonly tenant: string;
  /** The highest limit of the tenant's management keys: a member gives a new key no more than they could. */
  readonly rateLimitPerMinute: number;
  /** The tenant may read, and nothing else. */
  readonly isSuspended: boolean;
}

/** What somebody may do for one tenant; who is no operator as well does it as a member. */
export interface Membership extends ActedFor {
  readonly role: ActingRole;
}

/** Whose a session is; a `link` was made on the command line and opens one operator's session. */
export type SessionOwner =
  | { readonly kind: 'person' | 'api_key' | 'admin_key'; readonly id: string }
  | { readonly kind: 'link'; readonly id: null };

/** A session that is good at this moment, and what it may do. */
export interface Session {
  readonly id: string;
  readonly owner: SessionOwner;
  readonly actor: Actor;
  readonly email: string | null;
  /** Of a management key's session: the key. */
  readonly key: ResolvedKey | undefined;
  /** The name of that key's tenant. */
  readonly keyTenant: string | null;
  readonly operatorRole: OperatorRole | null;
  /** Of a person: the first one is the oldest. */
  readonly memberships: readonly Membership[];
  readonly expiresAt: Date;
  /** What changing requests send as `X-CSRF-Token`. */
  readonly csrfToken: string;
}

const TOKEN = /^[\w-]{43}$/;

/** A token of 256 random bits, for sessions and login links. */
export function mintToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Whether a text can be a token at all. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The SHA-256 in hex, the only form in which tokens are stored. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}

/** Made of the session's token, so that it is good for this session alone and needs no row. */
export function csrfTokenOf(token: string): string {
  return createHmac('sha256', token).update('csrf').digest('base64url');
}

/** Whether the two are the same; takes as long for a wrong one as for a right one. */
export function isSameToken(expected: string, given: unknown): boolean {
  if (typeof given !== 'string' || given.length !== expected.length) return false;
  return timingSafeEqual(Buffer.from(hashToken(expected)), Buffer.from(hashToken(given)));
}
