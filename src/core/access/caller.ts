import type { Recovery } from '../../canonical/routing-preferences.js';
import type { ActingRole, KeyRight, OperatorRole } from './roles.js';
import type { LimitedSubject, Limits } from '../../canonical/limits.js';
import { PermissionError } from '../../platform/errors/gateway-errors.js';

export const API_KEY_TYPES = ['routing', 'management'] as const;
/** `routing` keys (`sk-…`) call models; `management` keys (`sk-mgmt-…`) run the account. */
export type ApiKeyType = (typeof API_KEY_TYPES)[number];

export const MAKERS = ['operator', 'management', 'routing'] as const;
/** Kind of creator of a tenant's resource: the operator, or a key of this type. */
export type Maker = (typeof MAKERS)[number];

/** A key that requests count against. */
export interface CountedKey {
  readonly id: string;
  readonly rateLimitPerMinute: number;
}

export const ACTOR_KINDS = [
  'admin_key',
  'api_key',
  'person',
  'command',
  'bootstrap',
  'service',
] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/** The principal behind an action, as lists and the audit log show it. */
export interface Actor {
  readonly kind: ActorKind;
  /** Null when the actor has no database row, such as a command. */
  readonly id: string | null;
  /** Display name; never a secret. */
  readonly name: string;
}

/** The authenticated operator of a request under `/v1/admin`. */
export interface Operator {
  readonly actor: Actor;
  readonly role: OperatorRole;
}

/** The authenticated tenant and key of a request. */
export interface Caller {
  readonly tenantId: string;
  readonly apiKeyId: string;
  readonly keyType: ApiKeyType;
  /** The key's name, or the person's name for a session. */
  readonly keyName: string;
  /** Role of a session's member or operator, whose id is `apiKeyId`; absent for keys. */
  readonly actingRole?: ActingRole;
  /** Requests per minute: the lowest limit in the key's chain. */
  readonly rateLimitPerMinute: number;
  /**
   * Keys that requests count against, from the nearest to the root of the chain; absent for a key
   * without a parent, whose requests count against itself.
   */
  readonly countsOn?: readonly CountedKey[];
  /** The key's ancestors, nearest first; absent when it has none. */
  readonly ancestorIds?: readonly string[];
  /** Rights that the key lacks because its creator did; absent when none. Sessions use `actingRole`. */
  readonly withheld?: readonly KeyRight[];
  /** True when prompts and answers are stored, as set by the key or its tenant; absent when neither sets it. */
  readonly contentLog?: boolean;
  /** How interrupted streams are recovered unless the request says; absent when they are not. */
  readonly recovery?: Exclude<Recovery, 'off'>;
  /** Undefined when neither the key, its ancestors nor the tenant has a limit. */
  readonly spendLimits?: SpendLimitsOfCaller;
  /** Undefined when neither the key, its ancestors, the tenant nor its end users have such limits. */
  readonly limits?: CallerLimits;
}

/** Limits on a caller's requests other than its rate limit and monthly spend limit. */
export interface CallerLimits {
  /** Those of the key, its ancestors (nearest first) and the tenant that have limits. */
  readonly subjects: readonly LimitedSubject[];
  /** Present when the tenant limits its end users. */
  readonly endUsers?: {
    /** Default for end users without limits of their own. */
    readonly each: Limits | null;
    /** True when any end user has limits of its own. */
    readonly areSome: boolean;
  };
}

/** Credits per calendar month (UTC), the lowest in a key's chain; null for no limit. */
export interface SpendLimitsOfCaller {
  readonly key: number | null;
  readonly tenant: number | null;
}

/** Returns the id of the key that open requests count against: the root of the caller's chain. */
export function countedKeyOf({
  countsOn,
  apiKeyId,
}: Pick<Caller, 'countsOn' | 'apiKeyId'>): string {
  return countsOn?.at(-1)?.id ?? apiKeyId;
}

/**
 * Lets a routing key change only resources that routing keys of its tenant created.
 *
 * @param noun kind of resource, such as `guardrail`
 * @throws PermissionError
 */
export function refuseChange(caller: Caller, madeBy: Maker, noun: string): void {
  if (caller.keyType === 'management' || madeBy === 'routing') return;
  throw new PermissionError(
    `This ${noun} was not created by a routing key, so routing keys may only read it. Use a management key (sk-mgmt-…) to change or delete it.`,
  );
}
