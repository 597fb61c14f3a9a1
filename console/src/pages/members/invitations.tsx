import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import { OpenInvitations } from '../../parts/open-invitations';

/** Invitations that have not been accepted. */
export function Invitations(): ReactNode {
  const invitations = useCursorList(['invitations'], (query, signal) =>
    api.GET('/v1/customer/invitations', { params: { query }, signal }),
  );
  return (
    <OpenInvitations
      title="Open invitations"
      invitations={invitations}
      withdraw={(id) => api.DELETE('/v1/customer/invitations/{id}', { params: { path: { id } } })}
      invalidates={['invitations']}
      withLinks
      empty="People you invite appear here until they log in."
    />
  );
}
