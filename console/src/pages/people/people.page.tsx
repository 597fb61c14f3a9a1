import { useState, type ReactNode } from 'react';
import { useSession } from '../../session/session';
import { PageTabs } from '../../shell/page-tabs';
import { Button, Page } from '../../ui';
import { AdminKeys } from './admin-keys';
import { InviteOperator } from './invite-operator';
import { OperatorInvitations } from './operator-invitations';
import { PersonTable } from './person-table';

/** Who operates the gateway, and by which keys. */
export function PeoplePage(): ReactNode {
  const { can } = useSession();
  const [isInviting, setIsInviting] = useState(false);
  return (
    <Page
      title="People"
      description="All who have ever logged in, who operates the gateway, and the keys of operators."
      actions={
        can('operator:write') && (
          <Button variant="primary" onClick={() => setIsInviting(true)}>
            Invite an operator
          </Button>
        )
      }
    >
      <PageTabs
        label="Of operators"
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
