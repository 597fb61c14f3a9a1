import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import type { components } from '../../api/schema';
import { MonthlyLimitField, readCredits } from '../../parts/credits-field';
import { Button, Card, ConfirmDialog, FormDialog, Notice, TextField, toast } from '../../ui';
import type { Tenant } from './tenant';

type Change = components['schemas']['UpdateTenant'];

function useChangeTenant(tenant: Tenant) {
  const params = { path: { tenant_id: tenant.id } };
  return useChange(
    (body: Change) => api.PATCH('/v1/admin/tenants/{tenant_id}', { params, body }),
    ['admin'],
  );
}

/** Name, monthly limit, suspension and deletion of a tenant. */
export function TenantState({ tenant }: { tenant: Tenant }): ReactNode {
  const change = useChangeTenant(tenant);
  const [opened, setOpened] = useState<'suspend' | 'delete'>();
  const isActive = tenant.status === 'active';
  return (
    <div className="columns">
      <Card title="Name and monthly limit">
        <NameForm tenant={tenant} />
      </Card>
      <Card title={isActive ? 'Suspend tenant' : 'Resume tenant'}>
        <p>
          {isActive
            ? 'Within a second its keys can only read data. Requests in progress finish and are charged.'
            : 'Its keys can call models again within a second.'}
        </p>
        <div className="row">
          {isActive ? (
            <Button variant="danger" onClick={() => setOpened('suspend')}>
              Suspend tenant
            </Button>
          ) : (
            <Button
              busy={change.isPending}
              onClick={() =>
                change.mutate(
                  { status: 'active' },
                  { onSuccess: () => toast(`${tenant.name} is active again.`) },
                )
              }
            >
              Resume tenant
            </Button>
          )}
        </div>
        {change.error && <Notice tone="bad">{change.error.message}</Notice>}
      </Card>
      <Card title="Delete tenant">
        <p>
          Deletes its keys, members and stored data, replaces its name and removes the remaining
          balance. Ledger entries and request logs are kept for accounting.
        </p>
        {isActive ? (
          <p className="muted">Suspend the tenant before you delete it.</p>
        ) : (
          <div className="row">
            <Button variant="danger" onClick={() => setOpened('delete')}>
              Delete tenant
            </Button>
          </div>
        )}
      </Card>
      {opened === 'suspend' && (
        <ConfirmDialog
          title={`Suspend ${tenant.name}?`}
          text="Its requests are rejected with 403 until you resume it."
          action="Suspend tenant"
          danger
          onClose={() => setOpened(undefined)}
          onConfirm={() => change.mutateAsync({ status: 'suspended' })}
        />
      )}
      {opened === 'delete' && <DeleteTenant tenant={tenant} onClose={() => setOpened(undefined)} />}
    </div>
  );
}

function NameForm({ tenant }: { tenant: Tenant }): ReactNode {
  const change = useChangeTenant(tenant);
  const [name, setName] = useState(tenant.name);
  const [limit, setLimit] = useState(tenant.monthly_spend_limit?.toString() ?? '');
  const errors = formErrors(change.error, ['name', 'monthly_spend_limit']);
  const save = () =>
    change.mutate(
      { name, monthly_spend_limit: readCredits(limit) },
      { onSuccess: () => toast('Tenant saved.') },
    );
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <TextField label="Name" error={errors.of('name')} value={name} required onChange={setName} />
      <MonthlyLimitField
        value={limit}
        onChange={setLimit}
        error={errors.of('monthly_spend_limit')}
        min={0}
      />
      {errors.other !== undefined && <Notice tone="bad">{errors.other}</Notice>}
      <div className="row">
        <Button type="submit" busy={change.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}

function DeleteTenant({ tenant, onClose }: { tenant: Tenant; onClose: () => void }): ReactNode {
  const [typed, setTyped] = useState('');
  const params = { path: { tenant_id: tenant.id } };
  const remove = useChange(
    () => api.DELETE('/v1/admin/tenants/{tenant_id}', { params }),
    ['admin'],
    () => {
      toast(`${tenant.name} was deleted.`);
      onClose();
    },
  );
  return (
    <FormDialog
      title={`Delete ${tenant.name} permanently?`}
      action="Delete permanently"
      danger
      busy={remove.isPending}
      disabled={typed !== tenant.name}
      error={remove.error?.message}
      onSubmit={() => remove.mutate()}
      onClose={onClose}
    >
      <p>This cannot be undone.</p>
      <TextField label={`Type ${tenant.name} to confirm`} value={typed} onChange={setTyped} />
    </FormDialog>
  );
}
