import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import type { components } from '../../api/schema';
import { CreditsField, MonthlyLimitField, readCredits } from '../../parts/credits-field';
import { ButtonLink, Checkbox, Code, Dialog, FormDialog, Notice, TextField } from '../../ui';

type KeyType = components['schemas']['TenantKey']['type'];

const KEY_TYPES: readonly { type: KeyType; label: string }[] = [
  { type: 'routing', label: 'Routing key, to call models' },
  { type: 'management', label: 'Management key, for the owner' },
];
const FIELDS = ['name', 'credits', 'memo', 'monthly_spend_limit', 'keys'];

/** Creates a tenant and shows its keys once. */
export function CreateTenant({ onClose }: { onClose: () => void }): ReactNode {
  const [name, setName] = useState('');
  const [credits, setCredits] = useState('');
  const [memo, setMemo] = useState('');
  const [limit, setLimit] = useState('');
  const [keys, setKeys] = useState<readonly KeyType[]>(['routing']);
  const create = useChange(
    () =>
      api.POST('/v1/admin/tenants', {
        body: {
          name,
          credits: readCredits(credits) ?? 0,
          ...(memo && { memo }),
          monthly_spend_limit: readCredits(limit),
          keys: [...keys],
        },
      }),
    ['admin'],
  );
  const errors = formErrors(create.error, FIELDS);
  if (create.data) return <Created tenant={create.data} onClose={onClose} />;
  return (
    <FormDialog
      title="Create tenant"
      action="Create tenant"
      busy={create.isPending}
      error={errors.other}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Must be unique"
        error={errors.of('name')}
        value={name}
        required
        onChange={setName}
      />
      <CreditsField
        label="Initial credits"
        value={credits}
        onChange={setCredits}
        error={errors.of('credits')}
        min={0}
      />
      <TextField
        label="Memo for the grant"
        hint="For example an invoice number. Kept in the ledger permanently, so do not enter personal data."
        error={errors.of('memo')}
        value={memo}
        onChange={setMemo}
      />
      <MonthlyLimitField
        value={limit}
        onChange={setLimit}
        error={errors.of('monthly_spend_limit')}
        min={0}
      />
      <fieldset className="fieldset">
        <legend>Initial keys</legend>
        {KEY_TYPES.map(({ type, label }) => (
          <Checkbox
            key={type}
            label={label}
            checked={keys.includes(type)}
            onChange={(isOn) =>
              setKeys(isOn ? [...keys, type] : keys.filter((one) => one !== type))
            }
          />
        ))}
      </fieldset>
    </FormDialog>
  );
}

function Created({
  tenant,
  onClose,
}: {
  tenant: components['schemas']['CreatedTenant'];
  onClose: () => void;
}): ReactNode {
  return (
    <Dialog title={`${tenant.name} created`} onClose={onClose}>
      {tenant.keys.length > 0 && (
        <Notice tone="warn">Copy these keys now. They are not shown again.</Notice>
      )}
      {tenant.keys.map(({ id, type, key }) => (
        <div key={id}>
          <p>{type === 'routing' ? 'Routing key' : 'Management key'}</p>
          <Code text={key} label={`${type} key`} />
        </div>
      ))}
      <div className="row row-end">
        <ButtonLink variant="primary" to="/tenants/$tenantId" params={{ tenantId: tenant.id }}>
          Open {tenant.name}
        </ButtonLink>
      </div>
    </Dialog>
  );
}
