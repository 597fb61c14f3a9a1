import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import { OpenInvitations } from '../../parts/open-invitations';

/** Who is invited and has not logged in yet. */
export function Invitations(): ReactNode {
  const invitations = useCursorList(['invitations'], (query, signal) =>
    api.GET('/v1/customer/invitations', { params: { query }, signal }),
  );
  return (
    <OpenInvitations
      title="Open invitations"
      invitations={invitations}
      withdraw={(id) => api.DELETE('/v1/customer/invitations/{id}', { params: { path: { id } } })}
      touches={['invitations']}
      withLinks
      empty="Who is invited becomes a member by logging in."
    />
  );
}
