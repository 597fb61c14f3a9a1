import { SetMetadata } from '@nestjs/common';

export const TENANT_ROLES = ['owner', 'developer', 'viewer', 'billing'] as const;
/** What a member may do for a tenant. */
export type TenantRole = (typeof TENANT_ROLES)[number];

export const OPERATOR_ROLES = ['admin', 'auditor'] as const;
/** An `admin` may do all that is under `/v1/admin`, an `auditor` read it. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** As whom somebody acts for a tenant: as a member, or as an operator who names it. */
export type ActingRole = TenantRole | OperatorRole;

/** Metadata key of the right that a handler asks of a member who is logged in. */
export const MEMBER_RIGHT = Symbol('MEMBER_RIGHT');

/**
 * Who may do what for a tenant: the one table of the roles. A handler names its right with `@Members`; one
 * that names none is closed to sessions.
 */
export const ROLES_OF = {
  /** What is the same for everybody, as the list of models. */
  any: [...TENANT_ROLES, ...OPERATOR_ROLES],
  /** Balance, statements, sums, budgets. */
  money: [...TENANT_ROLES, ...OPERATOR_ROLES],
  /** All else that can be read and is no secret. */
  read: ['owner', 'developer', 'viewer', ...OPERATOR_ROLES],
  /** Routing keys, guardrails, destinations, webhooks, jobs. */
  develop: ['owner', 'developer', 'admin'],
  /** People, vendor accounts, limits of the tenant. */
  own: ['owner', 'admin'],
  /** Prompts and answers that are kept, and whether they are: no operator's business. */
  content: ['owner'],
  /** It is about the key that asks, so it takes a key. */
  nobody: [],
} as const satisfies Record<string, readonly ActingRole[]>;
export type MemberRight = keyof typeof ROLES_OF;

/** The rights that anybody can have: what a page asks before it shows something. */
export const GIVEN_RIGHTS = ['any', 'money', 'read', 'develop', 'own', 'content'] as const;
export type GivenRight = (typeof GIVEN_RIGHTS)[number];

/** The rights of an API key, beside calling models. The type of the key limits them further. */
export const KEY_RIGHTS = GIVEN_RIGHTS.filter((right) => right !== 'any');
export type KeyRight = (typeof KEY_RIGHTS)[number];

/** What the operators' roles may do under `/v1/admin`. */
export const OPERATOR_RIGHTS = ['operator:read', 'operator:write'] as const;
export type OperatorRight = (typeof OPERATOR_RIGHTS)[number];
export const RIGHTS_OF_OPERATOR = {
  admin: OPERATOR_RIGHTS,
  auditor: ['operator:read'],
} as const satisfies Record<OperatorRole, readonly OperatorRight[]>;

/** The right that a member's session needs for a controller or method; keys are asked for by `@Authenticated`. */
export function Members(right: MemberRight): ClassDecorator & MethodDecorator {
  return SetMetadata(MEMBER_RIGHT, right);
}

/** Whether the roles of a right have this one. */
export function hasRight(role: ActingRole, right: MemberRight): boolean {
  const roles: readonly ActingRole[] = ROLES_OF[right];
  return roles.includes(role);
}

/** All rights of a role. */
export function rightsOf(role: ActingRole): GivenRight[] {
  return GIVEN_RIGHTS.filter((right) => hasRight(role, right));
}

/** The role with the most rights: of any two, one has all those of the other. */
export function strongest(roles: readonly [ActingRole, ...ActingRole[]]): ActingRole {
  return roles.reduce((one, other) =>
    rightsOf(other).length > rightsOf(one).length ? other : one,
  );
}

/** Whether somebody with this role is at the tenant as an operator. */
export function isOperatorRole(role: ActingRole): role is OperatorRole {
  const operators: readonly ActingRole[] = OPERATOR_ROLES;
  return operators.includes(role);
}
