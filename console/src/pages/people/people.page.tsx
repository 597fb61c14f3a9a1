import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, unwrap } from '../../api/client';
import { useCursorList } from '../../api/queries';
import type { components } from '../../api/schema';
import { useSession } from '../../session/session';
import {
  Badge,
  Button,
  Card,
  ConfirmDialog,
  DataTable,
  EmptyState,
  MoreButton,
  Page,
  QueryState,
  Select,
  Time,
  toast,
  type Column,
} from '../../ui';
import { InviteOperator, OPERATOR_ROLES } from './invite-operator';
import { OperatorInvitations } from './operator-invitations';

type Person = components['schemas']['Person'];
type Ask = { person: Person; what: 'disable' | 'enable' | 'end' };

/** Who has ever logged in, and who may operate the gateway. */
export function PeoplePage(): ReactNode {
  const { can } = useSession();
  const client = useQueryClient();
  const [isInviting, setIsInviting] = useState(false);
  const [asked, setAsked] = useState<Ask>();
  const mayChange = can('operator:write');
  const queryKey = ['admin', 'people', 'list'];
  const people = useCursorList(queryKey, (cursor, signal) =>
    unwrap(api.GET('/v1/admin/people', { params: { query: cursor ? { cursor } : {} }, signal })),
  );
  const change = useMutation({
    mutationFn: ({ id, ...body }: { id: string } & components['schemas']['UpdatePerson']) =>
      unwrap(api.PATCH('/v1/admin/people/{id}', { params: { path: { id } }, body })),
    onSettled: () => client.invalidateQueries({ queryKey }),
  });
  const columns: Column<Person>[] = [
    {
      id: 'name',
      header: 'Name',
      cell: ({ name, is_disabled }) => (
        <>
          {name} {is_disabled && <Badge tone="bad">disabled</Badge>}
        </>
      ),
    },
    { id: 'email', header: 'E-mail', wide: true, cell: ({ email }) => email ?? '–' },
    {
      id: 'role',
      header: 'Operator',
      cell: (person) =>
        mayChange ? (
          <Select
            aria-label={`Operator's role of ${person.name}`}
            value={person.operator_role ?? ''}
            onChange={({ target }) =>
              change.mutate(
                {
                  id: person.id,
                  operator_role: OPERATOR_ROLES.find((role) => role === target.value) ?? null,
                },
                {
                  onSuccess: () => toast(`The role of ${person.name} is changed.`),
                  onError: (error) => toast(error.message, 'bad'),
                },
              )
            }
          >
            <option value="">no operator</option>
            {OPERATOR_ROLES.map((role) => (
              <option key={role}>{role}</option>
            ))}
          </Select>
        ) : (
          (person.operator_role ?? '–')
        ),
    },
    {
      id: 'memberships',
      header: 'Member of',
      wide: true,
      cell: ({ memberships }) =>
        memberships.length === 0
          ? '–'
          : memberships.map(({ tenant_id, tenant, role }) => (
              <div key={tenant_id}>
                {tenant} <span className="muted">{role}</span>
              </div>
            )),
    },
    {
      id: 'login',
      header: 'Last login',
      wide: true,
      cell: ({ last_login_at }) => <Time at={last_login_at} none="never" />,
    },
  ];
  if (mayChange) {
    columns.push({
      id: 'act',
      header: 'Change',
      cell: (person) => (
        <span className="row">
          <Button
            variant="quiet"
            aria-label={`End the sessions of ${person.name}`}
            onClick={() => setAsked({ person, what: 'end' })}
          >
            End sessions
          </Button>
          <Button
            variant="quiet"
            aria-label={`${person.is_disabled ? 'Enable' : 'Disable'} ${person.name}`}
            onClick={() => setAsked({ person, what: person.is_disabled ? 'enable' : 'disable' })}
          >
            {person.is_disabled ? 'Enable' : 'Disable'}
          </Button>
        </span>
      ),
    });
  }
  return (
    <Page
      title="People"
      description="All who have ever logged in, and who operates the gateway."
      actions={
        mayChange && (
          <Button variant="primary" onClick={() => setIsInviting(true)}>
            Invite an operator
          </Button>
        )
      }
    >
      <Card title="People">
        <QueryState query={people}>
          {({ pages }) => (
            <DataTable
              caption="People"
              columns={columns}
              rows={pages.flatMap(({ data }) => data)}
              rowKey={({ id }) => id}
              empty={
                <EmptyState title="Nobody has logged in as a person yet">
                  <span>Invite an operator, who logs in with your login service.</span>
                </EmptyState>
              }
            />
          )}
        </QueryState>
      </Card>
      <MoreButton query={people} />
      <OperatorInvitations />
      {isInviting && <InviteOperator onClose={() => setIsInviting(false)} />}
      {asked && (
        <ConfirmDialog
          title={TITLE_OF[asked.what](asked.person.name)}
          text={TEXT_OF[asked.what]}
          action={asked.what === 'end' ? 'End sessions' : 'Yes'}
          danger={asked.what !== 'enable'}
          open
          onOpenChange={() => setAsked(undefined)}
          onConfirm={async () => {
            const { person, what } = asked;
            if (what !== 'end') {
              await change.mutateAsync({ id: person.id, is_disabled: what === 'disable' });
              return;
            }
            const { ended } = await unwrap(
              api.DELETE('/v1/admin/people/{id}/sessions', {
                params: { path: { id: person.id } },
              }),
            );
            toast(ended === 1 ? '1 session is ended.' : `${ended} sessions are ended.`);
          }}
        />
      )}
    </Page>
  );
}

const TITLE_OF: Record<Ask['what'], (name: string) => string> = {
  disable: (name) => `Disable ${name}?`,
  enable: (name) => `Let ${name} log in again?`,
  end: (name) => `End all sessions of ${name}?`,
};
const TEXT_OF: Record<Ask['what'], string> = {
  disable: 'The person is out within a second, everywhere, and can not log in any more.',
  enable: 'The person can log in again, with the roles of before.',
  end: 'The person has to log in again.',
};
