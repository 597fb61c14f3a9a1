import type { ReactNode } from 'react';
import { MEMBER_ROLES } from '../../parts/invite-member';
import { DataTable } from '../../ui';
import { ABILITIES } from './abilities';

/** Roles side by side. */
export function RoleTable(): ReactNode {
  return (
    <DataTable
      caption="What each role may do"
      columns={[
        { header: 'May', cell: ({ text }: (typeof ABILITIES)[number]) => text },
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
