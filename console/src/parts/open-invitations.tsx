import { useState, type ReactNode } from 'react';
import { useChange } from '../api/changes';
import type { CursorList, CursorPage } from '../api/queries';
import type { components } from '../api/schema';
import {
  Button,
  Card,
  ConfirmDialog,
  CopyButton,
  EmptyState,
  MoreButton,
  PagedTable,
  Time,
  toast,
  type Column,
} from '../ui';
import { loginUrl } from './invite-member';

type Invitation = components['schemas']['Invitation'];

/**
 * Invitations that have not been accepted.
 *
 * @param withdraw undefined for read-only viewers
 * @param invalidates first elements of the query keys to refetch after a withdrawal
 * @param withLinks adds buttons that copy the login links
 */
export function OpenInvitations({
  title,
  invitations,
  withdraw,
  invalidates,
  withLinks = false,
  empty,
}: {
  title: string;
  invitations: CursorList<CursorPage<Invitation>>;
  withdraw: ((id: string) => Promise<unknown>) | undefined;
  invalidates: readonly string[];
  withLinks?: boolean;
  empty?: string;
}): ReactNode {
  const [withdrawn, setWithdrawn] = useState<Invitation>();
  const change = useChange(
    async ({ id }: Invitation) => withdraw?.(id),
    invalidates,
    () => toast('Invitation withdrawn.'),
  );
  const columns: Column<Invitation>[] = [
    { header: 'Email', cell: ({ email }) => email },
    { header: 'Role', cell: ({ role }) => role },
    { header: 'Invited by', wide: true, cell: ({ invited_by }) => invited_by },
    { header: 'Expires', wide: withLinks, cell: ({ expires_at }) => <Time at={expires_at} /> },
  ];
  if (withdraw) {
    columns.push({
      header: 'Actions',
      cell: (invitation) => (
        <div className="row">
          {withLinks && (
            <CopyButton text={loginUrl(invitation)} label={`Copy link for ${invitation.email}`}>
              Copy link
            </CopyButton>
          )}
          <Button
            variant="quiet"
            aria-label={`Withdraw invitation for ${invitation.email}`}
            onClick={() => setWithdrawn(invitation)}
          >
            Withdraw
          </Button>
        </div>
      ),
    });
  }
  return (
    <>
      <Card title={title}>
        <PagedTable
          query={invitations}
          caption={title}
          columns={columns}
          rowKey={({ id }) => id}
          empty={
            <EmptyState title="No open invitations">
              {empty !== undefined && <span>{empty}</span>}
            </EmptyState>
          }
        />
      </Card>
      <MoreButton query={invitations} />
      {withdrawn && (
        <ConfirmDialog
          title={`Withdraw the invitation for ${withdrawn.email}?`}
          text="The person can no longer accept it."
          action="Withdraw"
          danger
          onClose={() => setWithdrawn(undefined)}
          onConfirm={() => change.mutateAsync(withdrawn)}
        />
      )}
    </>
  );
}
