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

const INVALIDATES = ['end-users', 'end-user'];

const COLUMNS: readonly Column<EndUser>[] = [
  { header: 'End user', cell: ({ id }) => id },
  {
    header: 'Limits',
    cell: ({ has_own_limits }) =>
      has_own_limits ? <Badge tone="info">custom</Badge> : <Badge tone="neutral">default</Badge>,
  },
  {
    header: 'Budget',
    cell: ({ limits }) => {
      const budget = tightest(limits.budgets);
      return budget ? <BudgetBar budget={budget} short /> : <span className="muted">none</span>;
    },
  },
];

/** Default limits for end users, and end users with custom limits or usage. */
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
        title="Default limits"
        actions={can('develop') && <Button onClick={() => setOpen('each')}>Edit</Button>}
      >
        <p className="muted">
          Requests name their end user in <code>user</code>, <code>safety_identifier</code> or{' '}
          <code>metadata.user_id</code>. These limits apply to every end user without custom limits.
        </p>
        <QueryState query={each}>
          {({ limits }) => <LimitsView state={limits} none="No default limits." />}
        </QueryState>
      </Card>
      <Card
        title="End users with limits"
        actions={
          can('develop') && <Button onClick={() => setOpen('name')}>Set custom limits</Button>
        }
      >
        <PagedTable
          query={users}
          caption="End users with limits"
          columns={COLUMNS}
          rowKey={({ id }) => id}
          onOpen={({ id }) => setFilters({ user: id })}
          empty={
            <EmptyState title="No end users yet">
              End users with custom limits, or with usage of the default limits, appear here. Set
              custom limits to add one.
            </EmptyState>
          }
        />
        <MoreButton query={users} />
      </Card>
      {open === 'each' && each.data && (
        <EditLimits
          title="Default limits for end users"
          state={each.data.limits}
          save={(body) => api.PUT('/v1/customer/end-users/default-limits', { body })}
          invalidates={INVALIDATES}
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
      title="Set custom limits"
      action="Continue"
      busy={false}
      onClose={onClose}
      onSubmit={() => onName(name)}
    >
      <TextField
        label="End user"
        hint="The id that requests send."
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
    INVALIDATES,
    () => toast('Custom limits removed. The default limits apply.'),
  );
  const edit = (state: LimitsState) => (
    <EditLimits
      title={`Limits of ${name}`}
      state={state}
      save={(body) => api.PUT('/v1/customer/end-users/{end_user}/limits', { params, body })}
      invalidates={INVALIDATES}
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
                  Show requests
                </ButtonLink>
              )}
              {can('develop') && <Button onClick={() => setOpen('edit')}>Edit limits</Button>}
              {can('develop') && has_own_limits && (
                <Button variant="danger" onClick={() => setOpen('remove')}>
                  Remove custom limits
                </Button>
              )}
            </div>
            <p className="muted">
              {has_own_limits ? 'Custom limits apply.' : 'The default limits apply.'}
            </p>
            <LimitsView state={limits} none="No limits." />
            {open === 'edit' && edit(limits)}
          </>
        )}
      </QueryState>
      {open === 'remove' && (
        <ConfirmDialog
          title={`Remove the custom limits of ${name}?`}
          text="The default limits apply from then on. Past usage still counts."
          action="Remove limits"
          danger
          onClose={() => setOpen(undefined)}
          onConfirm={() => remove.mutateAsync()}
        />
      )}
    </Drawer>
  );
}
