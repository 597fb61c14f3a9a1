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
import { PersonDialog, type Ask, type Person } from './person-dialogs';

/** All who have ever logged in, with what they may do. */
export function PersonTable(): ReactNode {
  const { can } = useSession();
  const [asked, setAsked] = useState<Ask>();
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
      header: 'Operator',
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
  if (can('operator:write')) columns.push(actionsOf(setAsked));
  return (
    <>
      <Card title="People">
        <PagedTable
          query={people}
          caption="People"
          columns={columns}
          rowKey={({ id }) => id}
          empty={
            <EmptyState title="Nobody has logged in as a person yet">
              <span>Invite an operator, who logs in with your login service.</span>
            </EmptyState>
          }
        />
      </Card>
      <MoreButton query={people} />
      {asked && <PersonDialog ask={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

function actionsOf(ask: (what: Ask) => void): Column<Person> {
  return {
    header: 'Change',
    cell: (person) => (
      <span className="row">
        <Button
          variant="quiet"
          aria-label={`Role of ${person.name}`}
          onClick={() => ask({ person, what: 'role' })}
        >
          Role
        </Button>
        <Button
          variant="quiet"
          aria-label={`End sessions of ${person.name}`}
          onClick={() => ask({ person, what: 'end' })}
        >
          End sessions
        </Button>
        <Button
          variant="quiet"
          aria-label={`${person.is_disabled ? 'Enable' : 'Disable'} ${person.name}`}
          onClick={() => ask({ person, what: person.is_disabled ? 'enable' : 'disable' })}
        >
          {person.is_disabled ? 'Enable' : 'Disable'}
        </Button>
      </span>
    ),
  };
}
