import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import { InviteMember } from '../../parts/invite-member';
import { MemberTable } from '../../parts/member-table';
import { useSession } from '../../session/session';
import { Button } from '../../ui';
import type { Tenant } from './tenant';

const INVALIDATES = ['tenant-members'];

/** The tenant's members, with actions for operators. */
export function TenantMembers({ tenant }: { tenant: Tenant }): ReactNode {
  const { can } = useSession();
  const [isInviting, setIsInviting] = useState(false);
  const mayChange = can('operator:write') && tenant.status !== 'deleted';
  const path = { tenant_id: tenant.id };
  const members = useCursorList(['tenant-members', tenant.id], (query, signal) =>
    api.GET('/v1/admin/tenants/{tenant_id}/members', { params: { path, query }, signal }),
  );
  return (
    <>
      {mayChange && (
        <div className="row row-end">
          <Button onClick={() => setIsInviting(true)}>Invite member</Button>
        </div>
      )}
      <MemberTable
        members={members}
        invalidates={INVALIDATES}
        empty="Members log in to the console. Invite an owner, who can invite others."
        changes={
          mayChange
            ? {
                setRole: (person_id, role) =>
                  api.PATCH('/v1/admin/tenants/{tenant_id}/members/{person_id}', {
                    params: { path: { ...path, person_id } },
                    body: { role },
                  }),
                remove: (person_id) =>
                  api.DELETE('/v1/admin/tenants/{tenant_id}/members/{person_id}', {
                    params: { path: { ...path, person_id } },
                  }),
              }
            : undefined
        }
      />
      {isInviting && (
        <InviteMember
          title={`Invite to ${tenant.name}`}
          first="owner"
          invite={(body) =>
            api.POST('/v1/admin/tenants/{tenant_id}/members', { params: { path }, body })
          }
          invalidates={INVALIDATES}
          onClose={() => setIsInviting(false)}
        />
      )}
    </>
  );
}
