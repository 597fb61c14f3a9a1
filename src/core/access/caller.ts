import type { Recovery } from '../../canonical/routing-preferences.js';
import type { ActingRole, KeyRight, OperatorRole } from './roles.js';
import type { LimitedSubject, Limits } from '../../canonical/limits.js';
import { PermissionError } from '../../platform/errors/gateway-errors.js';

export const API_KEY_TYPES = ['routing', 'management'] as const;
/** `routing` keys (`sk-…`) call models; `management` keys (`sk-mgmt-…`) run the account. */
export type ApiKeyType = (typeof API_KEY_TYPES)[number];

export const MAKERS = ['operator', 'management', 'routing'] as const;
/** Who made something of a tenant's: the operator, or a key of this type. */
export type Maker = (typeof MAKERS)[number];

/** A key on whose minutes requests count. */
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

/** Who does something, as lists and the audit log name it. */
export interface Actor {
  readonly kind: ActorKind;
  /** Null: it is no row of the database, as a command. */
  readonly id: string | null;
  /** What a list shows; never a secret. */
  readonly name: string;
}

/** Who is asking under `/v1/admin`. */
export interface Operator {
  readonly actor: Actor;
  readonly role: OperatorRole;
}

/** Who is asking: the tenant and the key that a request was authenticated with. */
export interface Caller {
  readonly tenantId: string;
  readonly apiKeyId: string;
  readonly keyType: ApiKeyType;
  /** What its tenant called the key; of somebody who is logged in, their name. */
  readonly keyName: string;
  /**
   * Of a member or an operator who is logged in, whose `apiKeyId` is their own id; absent: it is a key
   * that asks.
   */
  readonly actingRole?: ActingRole;
  /** Requests per minute window of this key, or of a key above it if that is lower. */
  readonly rateLimitPerMinute: number;
  /**
   * The keys on which its requests count, the nearest first and the root of its chain last; absent
   * for a key that no routing key made, whose requests count on itself.
   */
  readonly countsOn?: readonly CountedKey[];
  /** The keys above it, nearest first; absent: none. */
  readonly ancestorIds?: readonly string[];
  /** Rights that the key lacks, as its creator did; absent: none. Sessions go by `actingRole`. */
  readonly withheld?: readonly KeyRight[];
  /** Whether what is said in its requests is kept, as its key or its tenant decides; absent: neither does. */
  readonly contentLog?: boolean;
  /** Who goes on with answers that break off, where a request does not say; absent: nobody. */
  readonly recovery?: Exclude<Recovery, 'off'>;
  /** Undefined when neither the key, a key above it, nor its tenant has a limit. */
  readonly spendLimits?: SpendLimitsOfCaller;
  /** Undefined when neither it, a key above it, its tenant nor its tenant's end users have such limits. */
  readonly limits?: CallerLimits;
}

/** What limits a caller's requests besides its rate limit and its monthly limit. */
export interface CallerLimits {
  /** The key, those above it, the nearest first, and the tenant, as far as they are limited. */
  readonly subjects: readonly LimitedSubject[];
  /** Where the tenant limits its end users. */
  readonly endUsers?: {
    /** Those of each that has none of its own. */
    readonly each: Limits | null;
    /** Whether any has limits of its own. */
    readonly areSome: boolean;
  };
}

/** Credits that may be spent in a calendar month (UTC), the lowest of a key's chain; null: no limit. */
export interface SpendLimitsOfCaller {
  readonly key: number | null;
  readonly tenant: number | null;
}

/** The key that a caller's limits count on: of a key under others the uppermost. */
export function countedKeyOf({
  countsOn,
  apiKeyId,
}: Pick<Caller, 'countsOn' | 'apiKeyId'>): string {
  return countsOn?.at(-1)?.id ?? apiKeyId;
}

/**
 * Lets a routing key change only what routing keys of its tenant made.
 *
 * @param noun what it is, as `guardrail`
 * @throws PermissionError
 */
export function refuseChange(caller: Caller, madeBy: Maker, noun: string): void {
  if (caller.keyType === 'management' || madeBy === 'routing') return;
  throw new PermissionError(
    `This ${noun} was not made by a routing key, so a routing key may only read it; a management key (sk-mgmt-…) is needed to change or delete it.`,
  );
}
