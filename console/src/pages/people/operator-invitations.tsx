import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, unwrap } from '../../api/client';
import { useCursorList } from '../../api/queries';
import type { components } from '../../api/schema';
import { useSession } from '../../session/session';
import {
  Button,
  Card,
  ConfirmDialog,
  DataTable,
  EmptyState,
  MoreButton,
  QueryState,
  Time,
  toast,
  type Column,
} from '../../ui';

type Invitation = components['schemas']['Invitation'];

/** Who is invited to be an operator and has not logged in yet. */
export function OperatorInvitations(): ReactNode {
  const { can } = useSession();
  const client = useQueryClient();
  const [withdrawn, setWithdrawn] = useState<Invitation>();
  const queryKey = ['admin', 'people', 'invitations'];
  const invitations = useCursorList(queryKey, (cursor, signal) =>
    unwrap(
      api.GET('/v1/admin/people/invitations', {
        params: { query: cursor ? { cursor } : {} },
        signal,
      }),
    ),
  );
  const columns: Column<Invitation>[] = [
    { id: 'email', header: 'E-mail', cell: ({ email }) => email },
    { id: 'role', header: 'Role', cell: ({ role }) => role },
    { id: 'by', header: 'By', wide: true, cell: ({ invited_by }) => invited_by },
    { id: 'until', header: 'Until', cell: ({ expires_at }) => <Time at={expires_at} /> },
  ];
  if (can('operator:write')) {
    columns.push({
      id: 'act',
      header: 'Change',
      cell: (invitation) => (
        <Button
          variant="quiet"
          aria-label={`Withdraw the invitation of ${invitation.email}`}
          onClick={() => setWithdrawn(invitation)}
        >
          Withdraw
        </Button>
      ),
    });
  }
  return (
    <>
      <Card title="Open invitations of operators">
        <QueryState query={invitations}>
          {({ pages }) => (
            <DataTable
              caption="Open invitations of operators"
              columns={columns}
              rows={pages.flatMap(({ data }) => data)}
              rowKey={({ id }) => id}
              empty={<EmptyState title="Nobody is invited" />}
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
        onOpenChange={() => setWithdrawn(undefined)}
        onConfirm={async () => {
          await unwrap(
            api.DELETE('/v1/admin/people/invitations/{id}', {
              params: { path: { id: withdrawn?.id ?? '' } },
            }),
          );
          toast('The invitation is withdrawn.');
          await client.invalidateQueries({ queryKey });
        }}
      />
    </>
  );
}
