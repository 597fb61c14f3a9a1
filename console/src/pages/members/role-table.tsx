import type { ReactNode } from 'react';
import { MEMBER_ROLES } from '../../parts/invite-member';
import { DataTable } from '../../ui';
import { ABILITIES } from './abilities';

/** Compares the permissions of roles. */
export function RoleTable(): ReactNode {
  return (
    <DataTable
      caption="Role permissions"
      columns={[
        { header: 'Permission', cell: ({ text }: (typeof ABILITIES)[number]) => text },
        ...MEMBER_ROLES.map((role) => ({
          header: role,
          cell: ({ roles }: (typeof ABILITIES)[number]) =>
            roles.some((one) => one === role) ? 'yes' : '–',
        })),
      ]}
      rows={ABILITIES}
      rowKey={({ right }) => right}
    />
  );
}
