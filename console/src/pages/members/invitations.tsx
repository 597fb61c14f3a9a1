import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/changes';
import { api, unwrap } from '../../api/client';
import { useCursorList } from '../../api/queries';
import type { components } from '../../api/schema';
import { loginUrl } from '../../parts/invite-member';
import {
  Button,
  Card,
  ConfirmDialog,
  CopyButton,
  DataTable,
  EmptyState,
  MoreButton,
  QueryState,
  Time,
  toast,
  type Column,
} from '../../ui';

type Invitation = components['schemas']['Invitation'];

/** Who is invited and has not logged in yet. */
export function Invitations(): ReactNode {
  const [withdrawn, setWithdrawn] = useState<Invitation>();
  const invitations = useCursorList(['invitations'], (cursor, signal) =>
    unwrap(
      api.GET('/v1/customer/invitations', { params: { query: cursor ? { cursor } : {} }, signal }),
    ),
  );
  const withdraw = useChange(
    ({ id }: Invitation) =>
      unwrap(api.DELETE('/v1/customer/invitations/{id}', { params: { path: { id } } })),
    ['invitations'],
    () => toast('The invitation is withdrawn.'),
  );
  const columns: Column<Invitation>[] = [
    { id: 'email', header: 'E-mail', cell: ({ email }) => email },
    { id: 'role', header: 'Role', cell: ({ role }) => role },
    { id: 'by', header: 'By', wide: true, cell: ({ invited_by }) => invited_by },
    {
      id: 'until',
      header: 'Until',
      wide: true,
      cell: ({ expires_at }) => <Time at={expires_at} />,
    },
    {
      id: 'act',
      header: 'Change',
      cell: (invitation) => (
        <div className="row">
          <CopyButton text={loginUrl(invitation)} label={`Copy link for ${invitation.email}`}>
            Copy link
          </CopyButton>
          <Button
            variant="quiet"
            aria-label={`Withdraw the invitation of ${invitation.email}`}
            onClick={() => setWithdrawn(invitation)}
          >
            Withdraw
          </Button>
        </div>
      ),
    },
  ];
  return (
    <>
      <Card title="Open invitations">
        <QueryState query={invitations}>
          {({ pages }) => (
            <DataTable
              caption="Open invitations"
              columns={columns}
              rows={pages.flatMap(({ data }) => data)}
              rowKey={({ id }) => id}
              empty={
                <EmptyState title="Nobody is invited">
                  <span>Who is invited becomes a member by logging in.</span>
                </EmptyState>
              }
            />
          )}
        </QueryState>
      </Card>
      <MoreButton query={invitations} />
      <ConfirmDialog
        title={`Withdraw the invitation of ${withdrawn?.email ?? ''}?`}
        text="It opens nothing any more."
        action="Withdraw"
        danger
        open={withdrawn !== undefined}
        onOpenChange={(open) => !open && setWithdrawn(undefined)}
        onConfirm={async () => withdrawn && withdraw.mutateAsync(withdrawn)}
      />
    </>
  );
}
