import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import { useSession } from '../../session/session';
import {
  Badge,
  Button,
  Card,
  EmptyState,
  MoreButton,
  PagedTable,
  Time,
  type Column,
} from '../../ui';
import { PersonDialog, type PersonAction, type Person } from './person-dialogs';

/** Everyone who has logged in, with their roles. */
export function PersonTable(): ReactNode {
  const { can } = useSession();
  const [action, setAction] = useState<PersonAction>();
  const people = useCursorList(['admin', 'people', 'list'], (query, signal) =>
    api.GET('/v1/admin/people', { params: { query }, signal }),
  );
  const columns: Column<Person>[] = [
    {
      header: 'Name',
      cell: ({ name, email, is_disabled }) => (
        <>
          {name} {is_disabled && <Badge tone="bad">disabled</Badge>}
          <br />
          <span className="muted">{email}</span>
        </>
      ),
    },
    {
      header: 'Operator role',
      cell: ({ operator_role: role }) => (role === null ? '–' : <Badge tone="info">{role}</Badge>),
    },
    {
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
      header: 'Last login',
      wide: true,
      cell: ({ last_login_at }) => <Time at={last_login_at} none="never" />,
    },
  ];
  if (can('operator:write')) columns.push(actionsOf(setAction));
  return (
    <>
      <Card title="People">
        <PagedTable
          query={people}
          caption="People"
          columns={columns}
          rowKey={({ id }) => id}
          empty={
            <EmptyState title="No logins yet">
              <span>People appear here after their first single sign-on. Invite an operator.</span>
            </EmptyState>
          }
        />
      </Card>
      <MoreButton query={people} />
      {action && <PersonDialog action={action} onClose={() => setAction(undefined)} />}
    </>
  );
}

function actionsOf(action: (next: PersonAction) => void): Column<Person> {
  return {
    header: 'Actions',
    cell: (person) => (
      <span className="row">
        <Button
          variant="quiet"
          aria-label={`Edit role of ${person.name}`}
          onClick={() => action({ person, kind: 'role' })}
        >
          Edit role
        </Button>
        <Button
          variant="quiet"
          aria-label={`End sessions of ${person.name}`}
          onClick={() => action({ person, kind: 'end' })}
        >
          End sessions
        </Button>
        <Button
          variant="quiet"
          aria-label={`${person.is_disabled ? 'Enable' : 'Disable'} ${person.name}`}
          onClick={() => action({ person, kind: person.is_disabled ? 'enable' : 'disable' })}
        >
          {person.is_disabled ? 'Enable' : 'Disable'}
        </Button>
      </span>
    ),
  };
}
