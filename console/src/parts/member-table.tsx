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
 * Who may log in for a tenant, and as what.
 *
 * @param changes what can be done with them; undefined for who may only look
 * @param touches the first words of the query keys of lists of members
 */
export function MemberTable({
  title,
  members,
  changes,
  touches,
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
  touches: readonly string[];
  empty: string;
}): ReactNode {
  const { session } = useSession();
  const [removed, setRemoved] = useState<Member>();
  const isSelf = ({ email }: Member) => session.kind === 'person' && email === session.email;
  // What a person may do changes with the own role.
  const all = [...touches, 'session'];
  const setRole = useChange(
    async ({ id, role }: Pick<Member, 'id' | 'role'>) => changes?.setRole(id, role),
    all,
    () => toast('The role is changed, and holds within a second.'),
  );
  const remove = useChange(
    async ({ id }: Member) => changes?.remove(id),
    all,
    () => toast(`${removed?.name ?? 'The person'} is removed.`),
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
    { header: 'E-mail', wide: true, cell: ({ email }) => email ?? '–' },
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
              <small className="muted">by the login service</small>
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
      header: 'Remove',
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
            <EmptyState title="Nobody logs in for this tenant">
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
              ? 'The person is out within a second, and comes back with the next login, as the login service gives the role.'
              : 'The person is no member any more within a second. What they made stays.'
          }
          action="Remove"
          danger
          onClose={() => setRemoved(undefined)}
          onConfirm={() => remove.mutateAsync(removed)}
        />
      )}
    </>
  );
}
