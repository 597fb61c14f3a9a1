import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import { InviteMember } from '../../parts/invite-member';
import { MemberTable } from '../../parts/member-table';
import { useSession } from '../../session/session';
import { Button, Card, Page } from '../../ui';
import { Invitations } from './invitations';
import { RoleTable } from './role-table';

const TOUCHES = ['members', 'invitations'];

/** The people who log in for the tenant, and those who are invited. */
export function MembersPage(): ReactNode {
  const { can, tenant } = useSession();
  const [isInviting, setIsInviting] = useState(false);
  const members = useCursorList(['members'], (query, signal) =>
    api.GET('/v1/customer/members', { params: { query }, signal }),
  );
  return (
    <Page
      title="Members"
      description="Who logs in for the tenant, and as what. Programs use keys instead."
      actions={
        can('own') && (
          <Button variant="primary" onClick={() => setIsInviting(true)}>
            Invite a member
          </Button>
        )
      }
    >
      <MemberTable
        title="Members"
        members={members}
        touches={TOUCHES}
        empty={can('own') ? 'Invite the first one.' : 'An owner, or the operator, can invite them.'}
        changes={
          can('own')
            ? {
                setRole: (id, role) =>
                  api.PATCH('/v1/customer/members/{id}', {
                    params: { path: { id } },
                    body: { role },
                  }),
                remove: (id) =>
                  api.DELETE('/v1/customer/members/{id}', { params: { path: { id } } }),
              }
            : undefined
        }
      />
      {can('own') && <Invitations />}
      <Card title="What each role may do">
        <RoleTable />
      </Card>
      {isInviting && (
        <InviteMember
          title={`Invite to ${tenant?.name ?? 'the tenant'}`}
          first="developer"
          invite={(body) => api.POST('/v1/customer/invitations', { body })}
          touches={TOUCHES}
          onClose={() => setIsInviting(false)}
        />
      )}
    </Page>
  );
}
