import { useState, type ReactNode } from 'react';
import { useChange } from '../api/changes';
import type { CursorList, CursorPage } from '../api/queries';
import type { components } from '../api/schema';
import { useSession } from '../session/session';
import {
  Badge,
  Button,
  Card,
  ConfirmDialog,
  EmptyState,
  MoreButton,
  Notice,
  PagedTable,
  Select,
  Time,
  toast,
  type Column,
} from '../ui';
import { MEMBER_ROLES, type MemberRole } from './invite-member';

export type Member = components['schemas']['Member'];

/**
 * The members of a tenant with their roles.
 *
 * @param changes actions on members; undefined for read-only viewers
 * @param invalidates first elements of the query keys to refetch after a change
 */
export function MemberTable({
  title,
  members,
  changes,
  invalidates,
  empty,
}: {
  title?: string;
  members: CursorList<CursorPage<Member>>;
  changes?:
    | {
        setRole: (id: string, role: MemberRole) => Promise<unknown>;
        remove: (id: string) => Promise<unknown>;
      }
    | undefined;
  invalidates: readonly string[];
  empty: string;
}): ReactNode {
  const { session } = useSession();
  const [removed, setRemoved] = useState<Member>();
  const isSelf = ({ email }: Member) => session.kind === 'person' && email === session.email;
  // Changing one's own role changes the session's rights.
  const all = [...invalidates, 'session'];
  const setRole = useChange(
    async ({ id, role }: Pick<Member, 'id' | 'role'>) => changes?.setRole(id, role),
    all,
    () => toast('Role changed. It applies within a second.'),
  );
  const remove = useChange(
    async ({ id }: Member) => changes?.remove(id),
    all,
    () => toast(`${removed?.name ?? 'The member'} was removed.`),
  );
  const columns: Column<Member>[] = [
    {
      header: 'Name',
      cell: (member) => (
        <>
          {member.name} {isSelf(member) && <Badge tone="info">you</Badge>}{' '}
          {member.is_disabled && <Badge tone="bad">disabled by the operator</Badge>}
        </>
      ),
    },
    { header: 'Email', wide: true, cell: ({ email }) => email ?? '–' },
    {
      header: 'Role',
      cell: (member) => (
        <>
          {changes ? (
            <Select
              aria-label={`Role of ${member.name}`}
              value={member.role}
              disabled={setRole.isPending}
              options={MEMBER_ROLES}
              onChange={(role) => setRole.mutate({ id: member.id, role })}
            />
          ) : (
            member.role
          )}
          {member.is_by_claim && (
            <>
              {' '}
              <small className="muted">set by single sign-on</small>
            </>
          )}
        </>
      ),
    },
    {
      header: 'Last login',
      wide: true,
      cell: ({ last_login_at }) => <Time at={last_login_at} none="never" />,
    },
    { header: 'Since', wide: true, cell: ({ created_at }) => <Time at={created_at} /> },
  ];
  if (changes) {
    columns.push({
      header: 'Actions',
      cell: (member) => (
        <Button
          variant="quiet"
          aria-label={`Remove ${member.name}`}
          onClick={() => setRemoved(member)}
        >
          Remove
        </Button>
      ),
    });
  }
  return (
    <>
      <Card title={title}>
        {setRole.error && <Notice tone="bad">{setRole.error.message}</Notice>}
        <PagedTable
          query={members}
          caption="Members"
          columns={columns}
          rowKey={({ id }) => id}
          empty={
            <EmptyState title="No members yet">
              <span>{empty}</span>
            </EmptyState>
          }
        />
      </Card>
      <MoreButton query={members} />
      {removed && (
        <ConfirmDialog
          title={`Remove ${removed.name}?`}
          text={
            removed.is_by_claim
              ? 'The person is logged out within a second. Single sign-on grants the role again at the next login.'
              : 'The person loses access within a second. What they created is kept.'
          }
          action="Remove member"
          danger
          onClose={() => setRemoved(undefined)}
          onConfirm={() => remove.mutateAsync(removed)}
        />
      )}
    </>
  );
}
