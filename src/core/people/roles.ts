import { SetMetadata } from '@nestjs/common';

export const TENANT_ROLES = ['owner', 'developer', 'viewer', 'billing'] as const;
/** What a member may do for a tenant. */
export type TenantRole = (typeof TENANT_ROLES)[number];

export const OPERATOR_ROLES = ['admin', 'auditor'] as const;
/** An `admin` may do all that is under `/v1/admin`, an `auditor` read it. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Metadata key of the right that a handler asks of a member who is logged in. */
export const MEMBER_RIGHT = Symbol('MEMBER_RIGHT');

/**
 * Who may do what: the one table of the members' roles. A handler names its right with `@Members`; one
 * that names none is closed to sessions.
 */
export const ROLES_OF = {
  /** What is the same for everybody, as the list of models. */
  any: TENANT_ROLES,
  /** Balance, statements, sums, budgets. */
  money: TENANT_ROLES,
  /** All else that can be read and is no secret. */
  read: ['owner', 'developer', 'viewer'],
  /** Routing keys, guardrails, destinations, webhooks, jobs. */
  develop: ['owner', 'developer'],
  /** People, vendor accounts, limits of the tenant. */
  own: ['owner'],
  /** Prompts and answers that are kept, and whether they are. */
  content: ['owner'],
  /** It is about the key that asks, so it takes a key. */
  nobody: [],
} as const satisfies Record<string, readonly TenantRole[]>;
export type MemberRight = keyof typeof ROLES_OF;

/** The rights that anybody can have: what a page asks before it shows something. */
export const GIVEN_RIGHTS = ['any', 'money', 'read', 'develop', 'own', 'content'] as const;
export type GivenRight = (typeof GIVEN_RIGHTS)[number];

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
export function hasRight(role: TenantRole, right: MemberRight): boolean {
  const roles: readonly TenantRole[] = ROLES_OF[right];
  return roles.includes(role);
}

/** All rights of a role. */
export function rightsOf(role: TenantRole): GivenRight[] {
  return GIVEN_RIGHTS.filter((right) => hasRight(role, right));
}
