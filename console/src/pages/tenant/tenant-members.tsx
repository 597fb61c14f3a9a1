import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, unwrap } from '../../api/client';
import { formErrors } from '../../api/changes';
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
  Field,
  FormDialog,
  MoreButton,
  QueryState,
  Select,
  TextInput,
  Time,
  toast,
  type Column,
} from '../../ui';
import type { Tenant } from './tenant.page';

type Member = components['schemas']['Member'];

const ROLES = ['owner', 'developer', 'viewer', 'billing'] as const;

/** Who may log in for the tenant, and as what. */
export function TenantMembers({ tenant }: { tenant: Tenant }): ReactNode {
  const { can } = useSession();
  const client = useQueryClient();
  const [isInviting, setIsInviting] = useState(false);
  const [removed, setRemoved] = useState<Member>();
  const mayChange = can('operator:write') && tenant.status !== 'deleted';
  const queryKey = ['admin', 'tenants', tenant.id, 'members'];
  const path = { tenant_id: tenant.id };
  const members = useCursorList(queryKey, (cursor, signal) =>
    unwrap(
      api.GET('/v1/admin/tenants/{tenant_id}/members', {
        params: { path, query: cursor ? { cursor } : {} },
        signal,
      }),
    ),
  );
  const changeRole = useMutation({
    mutationFn: ({ id, role }: Pick<Member, 'id' | 'role'>) =>
      unwrap(
        api.PATCH('/v1/admin/tenants/{tenant_id}/members/{person_id}', {
          params: { path: { ...path, person_id: id } },
          body: { role },
        }),
      ),
    onSuccess: () => toast('The role is changed.'),
    onError: (error) => toast(error.message, 'bad'),
    onSettled: () => client.invalidateQueries({ queryKey }),
  });
  const columns: Column<Member>[] = [
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
      header: 'Role',
      cell: (member) =>
        mayChange && !member.is_by_claim ? (
          <Select
            aria-label={`Role of ${member.name}`}
            value={member.role}
            onChange={({ target }) => {
              const role = ROLES.find((one) => one === target.value);
              if (role) changeRole.mutate({ id: member.id, role });
            }}
          >
            {ROLES.map((role) => (
              <option key={role}>{role}</option>
            ))}
          </Select>
        ) : (
          <>
            {member.role}{' '}
            {member.is_by_claim && <span className="muted">by the login service</span>}
          </>
        ),
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
      id: 'remove',
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
      {mayChange && (
        <div className="row row-end">
          <Button onClick={() => setIsInviting(true)}>Invite a member</Button>
        </div>
      )}
      <Card>
        <QueryState query={members}>
          {({ pages }) => (
            <DataTable
              caption="Members"
              columns={columns}
              rows={pages.flatMap(({ data }) => data)}
              rowKey={({ id }) => id}
              empty={
                <EmptyState title="Nobody logs in for this tenant">
                  <span>Invite its first owner, who can invite others.</span>
                </EmptyState>
              }
            />
          )}
        </QueryState>
      </Card>
      <MoreButton query={members} />
      {isInviting && <Invite tenant={tenant} onClose={() => setIsInviting(false)} />}
      <ConfirmDialog
        title={`Remove ${removed?.name ?? ''}?`}
        text={`The person is no member of ${tenant.name} any more, within a second.`}
        action="Remove"
        danger
        open={removed !== undefined}
        onOpenChange={() => setRemoved(undefined)}
        onConfirm={async () => {
          await unwrap(
            api.DELETE('/v1/admin/tenants/{tenant_id}/members/{person_id}', {
              params: { path: { ...path, person_id: removed?.id ?? '' } },
            }),
          );
          await client.invalidateQueries({ queryKey });
        }}
      />
    </>
  );
}

function Invite({ tenant, onClose }: { tenant: Tenant; onClose: () => void }): ReactNode {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<(typeof ROLES)[number]>('owner');
  const invite = useMutation({
    mutationFn: () =>
      unwrap(
        api.POST('/v1/admin/tenants/{tenant_id}/members', {
          params: { path: { tenant_id: tenant.id } },
          body: { email, role },
        }),
      ),
    onSuccess: () => {
      toast(`${email} is invited, and becomes a member by logging in.`);
      onClose();
    },
  });
  const errors = formErrors(invite.error, ['email', 'role']);
  return (
    <FormDialog
      title={`Invite to ${tenant.name}`}
      action="Invite"
      busy={invite.isPending}
      error={errors.other}
      onSubmit={() => invite.mutate()}
      onClose={onClose}
    >
      <Field label="E-mail" error={errors.of('email')} hint="As the login service knows it">
        <TextInput
          type="email"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
      </Field>
      <Field label="Role" error={errors.of('role')}>
        <Select
          value={role}
          onChange={({ target }) => setRole(ROLES.find((one) => one === target.value) ?? 'owner')}
        >
          {ROLES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </Select>
      </Field>
    </FormDialog>
  );
}
