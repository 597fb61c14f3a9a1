import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useChange } from '../../api/changes';
import { useCursorList } from '../../api/queries';
import type { components } from '../../api/schema';
import { useSession } from '../../session/session';
import {
  Badge,
  Button,
  ButtonLink,
  Card,
  ConfirmDialog,
  Drawer,
  EmptyState,
  FormDialog,
  MoreButton,
  PagedTable,
  QueryState,
  TextField,
  toast,
  type Column,
} from '../../ui';
import { useFilters } from '../../shell/use-filters';
import { EditLimits } from '../../parts/edit-limits';
import { tightest, type LimitsState } from '../../parts/limits-draft';
import { BudgetBar, LimitsView } from '../../parts/limits-view';

type EndUser = components['schemas']['EndUser'];

const TOUCHES = ['end-users', 'end-user'];

const COLUMNS: readonly Column<EndUser>[] = [
  { header: 'End user', cell: ({ id }) => id },
  {
    header: 'Limits',
    cell: ({ has_own_limits }) =>
      has_own_limits ? <Badge tone="info">own</Badge> : <Badge tone="neutral">of each</Badge>,
  },
  {
    header: 'Budget',
    cell: ({ limits }) => {
      const budget = tightest(limits.budgets);
      return budget ? <BudgetBar budget={budget} short /> : <span className="muted">none</span>;
    },
  },
];

/** What each end user may, and those who have limits of their own or have used some. */
export function EndUsers(): ReactNode {
  const { can } = useSession();
  const [{ user }, setFilters] = useFilters(['user']);
  const [open, setOpen] = useState<'each' | 'name'>();
  const each = useQuery({
    queryKey: ['end-users', 'each'],
    queryFn: ({ signal }) => api.GET('/v1/customer/end-users/default-limits', { signal }),
  });
  const users = useCursorList(['end-users', 'list'], (page, signal) =>
    api.GET('/v1/customer/end-users', { params: { query: { limit: 50, ...page } }, signal }),
  );
  return (
    <>
      <Card
        title="Each end user"
        actions={can('develop') && <Button onClick={() => setOpen('each')}>Change</Button>}
      >
        <p className="muted">
          An end user is whom a request names (<code>user</code>, <code>safety_identifier</code> or{' '}
          <code>metadata.user_id</code>). These hold for each that has no limits of its own.
        </p>
        <QueryState query={each}>
          {({ limits }) => <LimitsView state={limits} none="None: end users are not limited." />}
        </QueryState>
      </Card>
      <Card
        title="End users with limits"
        actions={
          can('develop') && <Button onClick={() => setOpen('name')}>Limit an end user</Button>
        }
      >
        <PagedTable
          query={users}
          caption="End users with limits"
          columns={COLUMNS}
          rowKey={({ id }) => id}
          onOpen={({ id }) => setFilters({ user: id })}
          empty={
            <EmptyState title="No end user is limited">
              Those with limits of their own, and those who used some of the limits of each, are
              listed here.
            </EmptyState>
          }
        />
        <MoreButton query={users} />
      </Card>
      {open === 'each' && each.data && (
        <EditLimits
          title="Limits of each end user"
          state={each.data.limits}
          save={(body) => api.PUT('/v1/customer/end-users/default-limits', { body })}
          touches={TOUCHES}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open === 'name' && (
        <NameEndUser
          onClose={() => setOpen(undefined)}
          onName={(name) => {
            setOpen(undefined);
            setFilters({ user: name });
          }}
        />
      )}
      {user && <EndUserDrawer name={user} onClose={() => setFilters({ user: undefined })} />}
    </>
  );
}

function NameEndUser({
  onName,
  onClose,
}: {
  onName: (name: string) => void;
  onClose: () => void;
}): ReactNode {
  const [name, setName] = useState('');
  return (
    <FormDialog
      title="Which end user?"
      action="Go on"
      busy={false}
      onClose={onClose}
      onSubmit={() => onName(name)}
    >
      <TextField
        label="Name"
        hint="As requests have it."
        required
        value={name}
        onChange={setName}
      />
    </FormDialog>
  );
}

function EndUserDrawer({ name, onClose }: { name: string; onClose: () => void }): ReactNode {
  const { can } = useSession();
  const [open, setOpen] = useState<'edit' | 'remove'>();
  const params = { path: { end_user: name } };
  const user = useQuery({
    queryKey: ['end-user', name],
    queryFn: ({ signal }) =>
      api.GET('/v1/customer/end-users/{end_user}/limits', { params, signal }),
  });
  const remove = useChange(
    () => api.DELETE('/v1/customer/end-users/{end_user}/limits', { params }),
    TOUCHES,
    () => toast('The limits of each hold again.'),
  );
  const edit = (state: LimitsState) => (
    <EditLimits
      title={`Limits of ${name}`}
      state={state}
      save={(body) => api.PUT('/v1/customer/end-users/{end_user}/limits', { params, body })}
      touches={TOUCHES}
      onClose={() => setOpen(undefined)}
    />
  );
  return (
    <Drawer title={name} onClose={onClose}>
      <QueryState query={user}>
        {({ limits, has_own_limits }) => (
          <>
            <div className="row">
              {can('read') && (
                <ButtonLink to="/requests" search={{ end_user: name }}>
                  Its requests
                </ButtonLink>
              )}
              {can('develop') && <Button onClick={() => setOpen('edit')}>Change limits</Button>}
              {can('develop') && has_own_limits && (
                <Button variant="danger" onClick={() => setOpen('remove')}>
                  Take its own limits away
                </Button>
              )}
            </div>
            <p className="muted">
              {has_own_limits ? 'It has limits of its own.' : 'It has the limits of each end user.'}
            </p>
            <LimitsView state={limits} none="None." />
            {open === 'edit' && edit(limits)}
          </>
        )}
      </QueryState>
      {open === 'remove' && (
        <ConfirmDialog
          title="Take its own limits away?"
          text="Those of each end user hold for it again. What it has spent stays counted."
          action="Take away"
          danger
          onClose={() => setOpen(undefined)}
          onConfirm={() => remove.mutateAsync()}
        />
      )}
    </Drawer>
  );
}
