import { SetMetadata } from '@nestjs/common';

export const TENANT_ROLES = ['owner', 'developer', 'viewer', 'billing'] as const;
/** Role of a member of a tenant. */
export type TenantRole = (typeof TENANT_ROLES)[number];

export const OPERATOR_ROLES = ['admin', 'auditor'] as const;
/** An `admin` may do everything under `/v1/admin`; an `auditor` may only read there. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Role a person acts in for a tenant: a member's, or an operator's. */
export type ActingRole = TenantRole | OperatorRole;

/** Metadata key of the right that a handler requires from sessions. */
export const MEMBER_RIGHT = Symbol('MEMBER_RIGHT');

/**
 * Maps rights to the tenant roles that have them. Handlers declare their right with `@Members`; without
 * it, they are closed to sessions.
 */
export const ROLES_OF = {
  /** Data that is the same for everyone, such as the model list. */
  any: [...TENANT_ROLES, ...OPERATOR_ROLES],
  /** Balance, statements, totals, budgets. */
  money: [...TENANT_ROLES, ...OPERATOR_ROLES],
  /** Everything else that is readable and not secret. */
  read: ['owner', 'developer', 'viewer', ...OPERATOR_ROLES],
  /** Routing keys, guardrails, destinations, webhooks, jobs. */
  develop: ['owner', 'developer', 'admin'],
  /** People, BYOK accounts, the tenant's limits. */
  own: ['owner', 'admin'],
  /** Stored prompts and answers, and whether to store them. Closed to operators. */
  content: ['owner'],
  /** Handlers about the calling key itself, which only keys can use. */
  keyOnly: [],
} as const satisfies Record<string, readonly ActingRole[]>;
export type MemberRight = keyof typeof ROLES_OF;

/** The rights a caller can hold; the console checks them before it shows a page. */
export const GIVEN_RIGHTS = ['any', 'money', 'read', 'develop', 'own', 'content'] as const;
export type GivenRight = (typeof GIVEN_RIGHTS)[number];

/** Rights of an API key besides calling models. The key's type limits them further. */
export const KEY_RIGHTS = GIVEN_RIGHTS.filter((right) => right !== 'any');
export type KeyRight = (typeof KEY_RIGHTS)[number];

/** Rights of operator roles under `/v1/admin`. */
export const OPERATOR_RIGHTS = ['operator:read', 'operator:write'] as const;
export type OperatorRight = (typeof OPERATOR_RIGHTS)[number];
export const RIGHTS_OF_OPERATOR = {
  admin: OPERATOR_RIGHTS,
  auditor: ['operator:read'],
} as const satisfies Record<OperatorRole, readonly OperatorRight[]>;

/** Declares the right that sessions need for a controller or method; `@Authenticated` handles keys. */
export function Members(right: MemberRight): ClassDecorator & MethodDecorator {
  return SetMetadata(MEMBER_RIGHT, right);
}

/** Returns whether a role has a right. */
export function hasRight(role: ActingRole, right: MemberRight): boolean {
  const roles: readonly ActingRole[] = ROLES_OF[right];
  return roles.includes(role);
}

/** Returns all rights of a role. */
export function rightsOf(role: ActingRole): GivenRight[] {
  return GIVEN_RIGHTS.filter((right) => hasRight(role, right));
}

/** Returns the role with the most rights. Of any two roles, one has all rights of the other. */
export function strongest(roles: readonly [ActingRole, ...ActingRole[]]): ActingRole {
  return roles.reduce((one, other) =>
    rightsOf(other).length > rightsOf(one).length ? other : one,
  );
}

/** Returns whether a role makes someone act for the tenant as an operator. */
export function isOperatorRole(role: ActingRole): role is OperatorRole {
  const operators: readonly ActingRole[] = OPERATOR_ROLES;
  return operators.includes(role);
}
