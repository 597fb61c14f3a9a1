import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import { InviteMember } from '../../parts/invite-member';
import { MemberTable } from '../../parts/member-table';
import { useSession } from '../../session/session';
import { Button, Card, Page } from '../../ui';
import { Invitations } from './invitations';
import { RoleTable } from './role-table';

const INVALIDATES = ['members', 'invitations'];

/** The tenant's members and open invitations. */
export function MembersPage(): ReactNode {
  const { can, tenant } = useSession();
  const [isInviting, setIsInviting] = useState(false);
  const members = useCursorList(['members'], (query, signal) =>
    api.GET('/v1/customer/members', { params: { query }, signal }),
  );
  return (
    <Page
      title="Members"
      description="People who can log in to this tenant. Programs use API keys."
      actions={
        can('own') && (
          <Button variant="primary" onClick={() => setIsInviting(true)}>
            Invite member
          </Button>
        )
      }
    >
      <MemberTable
        title="Members"
        members={members}
        invalidates={INVALIDATES}
        empty={
          can('own')
            ? 'Members log in to this console. Invite the first one.'
            : 'Members log in to this console. Ask an owner or the operator for an invitation.'
        }
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
      <Card title="Role permissions">
        <RoleTable />
      </Card>
      {isInviting && (
        <InviteMember
          title={`Invite to ${tenant?.name ?? 'the tenant'}`}
          first="developer"
          invite={(body) => api.POST('/v1/customer/invitations', { body })}
          invalidates={INVALIDATES}
          onClose={() => setIsInviting(false)}
        />
      )}
    </Page>
  );
}
