import { useState, type ReactNode } from 'react';
import { useSession } from '../../session/session';
import { PageTabs } from '../../shell/page-tabs';
import { Button, Page } from '../../ui';
import { AdminKeys } from './admin-keys';
import { InviteOperator } from './invite-operator';
import { OperatorInvitations } from './operator-invitations';
import { PersonTable } from './person-table';

/** People who have logged in, operators and operator keys. */
export function PeoplePage(): ReactNode {
  const { can } = useSession();
  const [isInviting, setIsInviting] = useState(false);
  return (
    <Page
      title="People"
      description="Everyone who has logged in, operators and their keys."
      actions={
        can('operator:write') && (
          <Button variant="primary" onClick={() => setIsInviting(true)}>
            Invite operator
          </Button>
        )
      }
    >
      <PageTabs
        label="People and keys"
        tabs={[
          {
            id: 'people',
            label: 'People',
            content: () => (
              <>
                <PersonTable />
                <OperatorInvitations />
              </>
            ),
          },
          { id: 'keys', label: 'Keys', content: () => <AdminKeys /> },
        ]}
      />
      {isInviting && <InviteOperator onClose={() => setIsInviting(false)} />}
    </Page>
  );
}
