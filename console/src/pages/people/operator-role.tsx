import type { ReactNode } from 'react';
import { SelectField } from '../../ui';

export const OPERATOR_ROLES = ['admin', 'auditor'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Selects the role of an operator or an operator key. */
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
      hint="Auditors can read everything; admins can also make changes."
      error={error}
      value={role}
      options={OPERATOR_ROLES}
      onChange={onChange}
    />
  );
}
