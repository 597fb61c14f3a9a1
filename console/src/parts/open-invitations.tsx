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
 * Who is invited and has not logged in yet.
 *
 * @param withdraw undefined for who may only look
 * @param touches the first words of the query keys of what a withdrawal changes
 * @param withLinks has the links to log in copied
 */
export function OpenInvitations({
  title,
  invitations,
  withdraw,
  touches,
  withLinks = false,
  empty,
}: {
  title: string;
  invitations: CursorList<CursorPage<Invitation>>;
  withdraw: ((id: string) => Promise<unknown>) | undefined;
  touches: readonly string[];
  withLinks?: boolean;
  empty?: string;
}): ReactNode {
  const [withdrawn, setWithdrawn] = useState<Invitation>();
  const change = useChange(
    async ({ id }: Invitation) => withdraw?.(id),
    touches,
    () => toast('The invitation is withdrawn.'),
  );
  const columns: Column<Invitation>[] = [
    { header: 'E-mail', cell: ({ email }) => email },
    { header: 'Role', cell: ({ role }) => role },
    { header: 'By', wide: true, cell: ({ invited_by }) => invited_by },
    { header: 'Until', wide: withLinks, cell: ({ expires_at }) => <Time at={expires_at} /> },
  ];
  if (withdraw) {
    columns.push({
      header: 'Change',
      cell: (invitation) => (
        <div className="row">
          {withLinks && (
            <CopyButton text={loginUrl(invitation)} label={`Copy link for ${invitation.email}`}>
              Copy link
            </CopyButton>
          )}
          <Button
            variant="quiet"
            aria-label={`Withdraw the invitation of ${invitation.email}`}
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
            <EmptyState title="Nobody is invited">
              {empty !== undefined && <span>{empty}</span>}
            </EmptyState>
          }
        />
      </Card>
      <MoreButton query={invitations} />
      {withdrawn && (
        <ConfirmDialog
          title={`Withdraw the invitation of ${withdrawn.email}?`}
          text="It opens nothing any more."
          action="Withdraw"
          danger
          onClose={() => setWithdrawn(undefined)}
          onConfirm={() => change.mutateAsync(withdrawn)}
        />
      )}
    </>
  );
}
