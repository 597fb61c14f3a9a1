import type { ReactNode } from 'react';
import { SelectField } from '../../ui';

export const OPERATOR_ROLES = ['admin', 'auditor'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Chooses what a new operator, or a key of one, may do. */
export function OperatorRoleField({
  role,
  onChange,
  error,
}: {
  role: OperatorRole;
  onChange: (role: OperatorRole) => void;
  error: string | undefined;
}): ReactNode {
  return (
    <SelectField
      label="Role"
      hint="An auditor sees all and changes nothing; an admin may do all"
      error={error}
      value={role}
      options={OPERATOR_ROLES}
      onChange={onChange}
    />
  );
}
