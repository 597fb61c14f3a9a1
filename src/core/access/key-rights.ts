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

/** The limits of a key's rights; stored with the key and checked at each read. */
export interface KeyBounds {
  /** Rights that its creator lacked. */
  withheldRights: KeyRight[];
  /** The member who created it, or whose key did; null: no member. */
  boundByPersonId: string | null;
}

/** Bounds as the database has them, with the member's role at present. */
export interface StoredBounds {
  withheldRights: KeyRight[];
  /** Null: bound by no member, or the member left or was disabled. */
  makerRole: TenantRole | null;
  isBoundByPerson: boolean;
}

/** The role of the member who bounds the row `key` of api_keys; null also after they left. */
export const makerRoleOf = (
  key: string,
): string => `CASE WHEN ${key}.bound_by_person_id IS NOT NULL THEN (
  SELECT role FROM memberships JOIN people ON people.id = person_id
   WHERE person_id = ${key}.bound_by_person_id AND memberships.tenant_id = ${key}.tenant_id
     AND disabled_at IS NULL) END`;

/** A condition: the key of a row's scope has a right at present; true for rows of the whole tenant. */
export function scopeHolds(right: KeyRight, column = 'scope_key_id'): string {
  const roles = ROLES_OF[right].map((role) => `'${role}'`).join();
  return `NOT EXISTS (
    SELECT FROM api_keys scope_key JOIN api_keys link
        ON link.id = scope_key.id OR link.id = ANY (scope_key.ancestor_ids)
     WHERE scope_key.id = ${column} AND ('${right}' = ANY (link.withheld_rights)
        OR link.bound_by_person_id IS NOT NULL AND coalesce(${makerRoleOf('link')} NOT IN (${roles}), true)))`;
}

/** Rights missing from keys that operators create for a tenant: prompts and answers belong to the tenant. */
export const OPERATOR_BOUNDS: KeyBounds = { withheldRights: ['content'], boundByPersonId: null };

/** The rights that a key lacks, by its own bounds and by those of the keys above it. */
export function withheldBy(chain: readonly StoredBounds[]): KeyRight[] {
  return KEY_RIGHTS.filter((right) => chain.some((bounds) => lacks(bounds, right)));
}

function lacks({ withheldRights, makerRole, isBoundByPerson }: StoredBounds, right: KeyRight) {
  if (withheldRights.includes(right)) return true;
  return isBoundByPerson && (makerRole === null || !hasRight(makerRole, right));
}

/** Whether a session's role, or a key, has a right. */
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
 * Lets a caller give a member only a role whose rights it has itself: without `content`, none is
 * made an owner.
 *
 * @throws PermissionError
 */
export function requireRightsOf(caller: Caller, role: TenantRole): void {
  for (const right of KEY_RIGHTS) if (hasRight(role, right)) requireRight(caller, right, 'role');
}

/**
 * Returns the bounds of a key that a caller creates or grants rights to.
 *
 * @param actorId who acts
 * @param own the bounds of the calling key; undefined: a session calls
 * @param rights that the key is to have; undefined: all that the caller has
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

/** No caller grants a right that it lacks, none grants itself any, and a routing key only bounds keys below it. */
export function refuseRights(
  caller: Caller,
  key: { id: string; ancestorIds: readonly string[] },
  rights: readonly KeyRight[],
): void {
  const isBelow = key.ancestorIds.includes(caller.apiKeyId);
  if (key.id === caller.apiKeyId || (caller.keyType === 'routing' && !isBelow)) {
    throw new PermissionError(
      'A key cannot change its own rights, and a routing key only those of keys that it made. Use a management key (sk-mgmt-…).',
      'rights',
    );
  }
  for (const right of rights) requireRight(caller, right, 'rights');
}

/** Management keys run the account, so dealing with them takes the right `own`. */
export function runsAccount(caller: Caller): boolean {
  return caller.keyType === 'management' && holdsRight(caller, 'own');
}
