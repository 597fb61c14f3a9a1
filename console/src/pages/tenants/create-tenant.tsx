import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import type { components } from '../../api/schema';
import { CreditsField, MonthlyLimitField, readCredits } from '../../parts/credits-field';
import { ButtonLink, Checkbox, Code, Dialog, FormDialog, Notice, TextField } from '../../ui';

type KeyType = components['schemas']['TenantKey']['type'];

const KEY_TYPES: readonly { type: KeyType; label: string }[] = [
  { type: 'routing', label: 'A routing key, to call models' },
  { type: 'management', label: 'A management key, for its owner' },
];
const FIELDS = ['name', 'credits', 'memo', 'monthly_spend_limit', 'keys'];

/** Makes a tenant; its keys are shown once, before the window is closed. */
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
      title="Create a tenant"
      action="Create"
      busy={create.isPending}
      error={errors.other}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="No two tenants have the same"
        error={errors.of('name')}
        value={name}
        required
        onChange={setName}
      />
      <CreditsField
        label="First credits"
        value={credits}
        onChange={setCredits}
        error={errors.of('credits')}
        min={0}
      />
      <TextField
        label="Memo of the grant"
        hint="Such as the number of an invoice; it stays in the ledger, so it names no person"
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
        <legend>First keys</legend>
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
    <Dialog title={`${tenant.name} is there`} onClose={onClose}>
      {tenant.keys.length > 0 && (
        <Notice tone="warn">These keys are shown only now. Copy them before you go on.</Notice>
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
