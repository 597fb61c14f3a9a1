import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import { OpenInvitations } from '../../parts/open-invitations';
import { useSession } from '../../session/session';

/** Operator invitations that have not been accepted. */
export function OperatorInvitations(): ReactNode {
  const { can } = useSession();
  const invitations = useCursorList(['admin', 'people', 'invitations'], (query, signal) =>
    api.GET('/v1/admin/people/invitations', { params: { query }, signal }),
  );
  const withdraw = (id: string) =>
    api.DELETE('/v1/admin/people/invitations/{id}', { params: { path: { id } } });
  return (
    <OpenInvitations
      title="Open operator invitations"
      invitations={invitations}
      withdraw={can('operator:write') ? withdraw : undefined}
      invalidates={['admin']}
      empty="People you invite as operators appear here until they log in."
    />
  );
}
