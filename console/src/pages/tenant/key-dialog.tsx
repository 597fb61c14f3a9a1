import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { MonthlyLimitField, readCredits } from '../../parts/credits-field';
import { FormDialog, NumberField, SecretDialog, SelectField, TextField, toast } from '../../ui';
import type { Tenant, TenantKey } from './tenant';

const TYPES = ['routing', 'management'] as const;
const FIELDS = ['name', 'type', 'rate_limit_per_minute', 'monthly_spend_limit'];

/** Creates or edits a key. A new key is shown once. */
export function KeyDialog({
  tenant,
  known,
  onClose,
}: {
  tenant: Tenant;
  known: TenantKey | undefined;
  onClose: () => void;
}): ReactNode {
  const [name, setName] = useState(known?.name ?? '');
  const [type, setType] = useState<TenantKey['type']>('routing');
  const [rate, setRate] = useState(known?.rate_limit_per_minute.toString() ?? '');
  const [limit, setLimit] = useState(known?.monthly_spend_limit?.toString() ?? '');
  const save = useChange(
    async (): Promise<{ key?: string }> => {
      const path = { tenant_id: tenant.id };
      const body = {
        name,
        ...(rate !== '' && { rate_limit_per_minute: Number(rate) }),
        monthly_spend_limit: readCredits(limit),
      };
      if (!known) {
        return api.POST('/v1/admin/tenants/{tenant_id}/api-keys', {
          params: { path },
          body: { ...body, type },
        });
      }
      await api.PATCH('/v1/admin/tenants/{tenant_id}/api-keys/{key_id}', {
        params: { path: { ...path, key_id: known.id } },
        body,
      });
      return {};
    },
    ['admin'],
    ({ key }) => {
      if (key !== undefined) return;
      toast('Key saved.');
      onClose();
    },
  );
  const errors = formErrors(save.error, FIELDS);
  const createdKey = save.data?.key;
  if (createdKey !== undefined) {
    return (
      <SecretDialog title="Key created" label="New key" secret={createdKey} onClose={onClose} />
    );
  }
  return (
    <FormDialog
      title={known ? `Edit ${known.name}` : `Create a key for ${tenant.name}`}
      action={known ? 'Save' : 'Create key'}
      busy={save.isPending}
      error={errors.other}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField label="Name" error={errors.of('name')} value={name} required onChange={setName} />
      {!known && (
        <SelectField
          label="Type"
          hint="Routing keys call models. Management keys have the rights of the tenant's owner."
          error={errors.of('type')}
          value={type}
          options={TYPES}
          onChange={setType}
        />
      )}
      <NumberField
        label="Requests per minute"
        hint={known ? undefined : 'Leave empty for the default.'}
        error={errors.of('rate_limit_per_minute')}
        min={1}
        value={rate}
        required={known !== undefined}
        onChange={setRate}
      />
      <MonthlyLimitField
        value={limit}
        onChange={setLimit}
        error={errors.of('monthly_spend_limit')}
        min={1}
      />
    </FormDialog>
  );
}
