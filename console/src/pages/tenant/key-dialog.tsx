import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { MonthlyLimitField, readCredits } from '../../parts/credits-field';
import { FormDialog, NumberField, SecretDialog, SelectField, TextField, toast } from '../../ui';
import type { Tenant, TenantKey } from './tenant';

const TYPES = ['routing', 'management'] as const;
const FIELDS = ['name', 'type', 'rate_limit_per_minute', 'monthly_spend_limit'];

/** Makes a key, which is shown once, or changes one. */
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
      toast('The key is changed.');
      onClose();
    },
  );
  const errors = formErrors(save.error, FIELDS);
  const made = save.data?.key;
  if (made !== undefined) {
    return <SecretDialog title="The key is made" label="Key" secret={made} onClose={onClose} />;
  }
  return (
    <FormDialog
      title={known ? `Change ${known.name}` : `Make a key for ${tenant.name}`}
      action={known ? 'Save' : 'Make'}
      busy={save.isPending}
      error={errors.other}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField label="Name" error={errors.of('name')} value={name} required onChange={setName} />
      {!known && (
        <SelectField
          label="Type"
          hint="Routing keys call models; management keys do what the tenant's owner does"
          error={errors.of('type')}
          value={type}
          options={TYPES}
          onChange={setType}
        />
      )}
      <NumberField
        label="Requests a minute"
        hint={known ? undefined : 'Empty: the usual'}
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
