import { PermissionError } from '../../platform/errors/gateway-errors.js';
import {
  hasRight,
  isOperatorRole,
  KEY_RIGHTS,
  ROLES_OF,
  type KeyRight,
  type TenantRole,
} from './roles.js';
import type { Caller } from './caller.js';

/** Bounds on a key's rights, stored with the key and evaluated on every read. */
export interface KeyBounds {
  /** Rights the creator lacked. */
  withheldRights: KeyRight[];
  /** The member who created the key or one of its ancestors; null when no member did. */
  boundByPersonId: string | null;
}

/** Stored bounds with the member's current role. */
export interface StoredBounds {
  withheldRights: KeyRight[];
  /** Null when no member bounds the key, or the member left or was disabled. */
  makerRole: TenantRole | null;
  isBoundByPerson: boolean;
}

/** Returns SQL for the current role of the member who bounds the `api_keys` row `key`; null once they left. */
export const makerRoleOf = (
  key: string,
): string => `CASE WHEN ${key}.bound_by_person_id IS NOT NULL THEN (
  SELECT role FROM memberships JOIN people ON people.id = person_id
   WHERE person_id = ${key}.bound_by_person_id AND memberships.tenant_id = ${key}.tenant_id
     AND disabled_at IS NULL) END`;

/** Returns SQL for whether the key of a row's scope currently has a right; true for rows of the whole tenant. */
export function scopeHolds(right: KeyRight, column = 'scope_key_id'): string {
  const roles = ROLES_OF[right].map((role) => `'${role}'`).join();
  return `NOT EXISTS (
    SELECT FROM api_keys scope_key JOIN api_keys link
        ON link.id = scope_key.id OR link.id = ANY (scope_key.ancestor_ids)
     WHERE scope_key.id = ${column} AND ('${right}' = ANY (link.withheld_rights)
        OR link.bound_by_person_id IS NOT NULL AND coalesce(${makerRoleOf('link')} NOT IN (${roles}), true)))`;
}

/** Bounds of keys that operators create for a tenant: stored prompts and answers belong to the tenant alone. */
export const OPERATOR_BOUNDS: KeyBounds = { withheldRights: ['content'], boundByPersonId: null };

/** Returns the rights that a key lacks by its own bounds and those of its ancestors. */
export function withheldBy(chain: readonly StoredBounds[]): KeyRight[] {
  return KEY_RIGHTS.filter((right) => chain.some((bounds) => lacks(bounds, right)));
}

function lacks({ withheldRights, makerRole, isBoundByPerson }: StoredBounds, right: KeyRight) {
  if (withheldRights.includes(right)) return true;
  return isBoundByPerson && (makerRole === null || !hasRight(makerRole, right));
}

/** Returns whether a key, or a session's role, has a right. */
export function holdsRight({ actingRole, withheld }: Caller, right: KeyRight): boolean {
  return actingRole === undefined
    ? withheld?.includes(right) !== true
    : hasRight(actingRole, right);
}

/** @throws PermissionError */
export function requireRight(caller: Caller, right: KeyRight, param = 'authorization'): void {
  if (holdsRight(caller, right)) return;
  const who =
    caller.actingRole === undefined
      ? 'This key does not have'
      : `Your role ${caller.actingRole} does not have`;
  throw new PermissionError(
    `${who} the right \`${right}\`. Ask an owner of the tenant to do this or, for a key, to grant the right.`,
    param,
  );
}

/**
 * Requires that a caller has every right of the role it grants. Without `content`, it cannot appoint
 * an owner.
 *
 * @throws PermissionError
 */
export function requireRightsOf(caller: Caller, role: TenantRole): void {
  for (const right of KEY_RIGHTS) if (hasRight(role, right)) requireRight(caller, right, 'role');
}

/**
 * Returns the bounds of a key that a caller creates or whose rights it changes.
 *
 * @param actorId the session's person; stored as the bounding member
 * @param own bounds of the calling key; undefined for a session
 * @param rights wanted rights of the key; undefined for all rights of the caller
 */
export function boundsFor(
  caller: Caller,
  actorId: string | null,
  own: KeyBounds | undefined,
  rights: readonly KeyRight[] = KEY_RIGHTS,
): KeyBounds {
  const { actingRole } = caller;
  const isMember = actingRole !== undefined && !isOperatorRole(actingRole);
  return {
    withheldRights: KEY_RIGHTS.filter(
      (right) => !rights.includes(right) || !holdsRight(caller, right),
    ),
    boundByPersonId: isMember ? actorId : (own?.boundByPersonId ?? null),
  };
}

/**
 * Requires that a caller has every right it grants, does not change its own rights, and, as a
 * routing key, changes only keys below it.
 *
 * @throws PermissionError
 */
export function refuseRights(
  caller: Caller,
  key: { id: string; ancestorIds: readonly string[] },
  rights: readonly KeyRight[],
): void {
  const isBelow = key.ancestorIds.includes(caller.apiKeyId);
  if (key.id === caller.apiKeyId || (caller.keyType === 'routing' && !isBelow)) {
    throw new PermissionError(
      'A key cannot change its own rights, and a routing key can change only those of keys below it. Use a management key (sk-mgmt-…).',
      'rights',
    );
  }
  for (const right of rights) requireRight(caller, right, 'rights');
}

/** Returns whether a caller may handle management keys, which takes the right `own`. */
export function runsAccount(caller: Caller): boolean {
  return caller.keyType === 'management' && holdsRight(caller, 'own');
}
