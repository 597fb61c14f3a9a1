import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import type { components } from '../../api/schema';
import { formatUsd } from '../../format/credits';
import { fromLocalInput } from '../../format/times';
import { useSession } from '../../session/session';
import {
  Button,
  Code,
  Dialog,
  FormDialog,
  Notice,
  NumberField,
  SelectField,
  TextField,
} from '../../ui';
import { fromDraft, toDraft } from '../../parts/limits-draft';
import { LimitsFields, limitParams } from '../../parts/limits-fields';

const FIELDS = ['name', 'type', 'expires_at', 'monthly_spend_limit', 'rate_limit_per_minute'];

/** Creates a key and shows it once. */
export function CreateKey({ onClose }: { onClose: () => void }): ReactNode {
  const { can } = useSession();
  const [name, setName] = useState('');
  const [type, setType] = useState<'routing' | 'management'>('routing');
  const [expiry, setExpiry] = useState('');
  const [month, setMonth] = useState('');
  const [rate, setRate] = useState('');
  const [limits, setLimits] = useState(() => toDraft(undefined));
  const create = useChange(
    (body: components['schemas']['CreateApiKey']) => api.POST('/v1/customer/api-keys', { body }),
    ['api-keys'],
  );
  const errors = formErrors(create.error, [...FIELDS, ...limitParams('limits.')]);
  const expiresAt = fromLocalInput(expiry);
  const submit = () =>
    create.mutate({
      name,
      type,
      ...(expiresAt !== undefined && { expires_at: expiresAt }),
      ...(month !== '' && { monthly_spend_limit: Number(month) }),
      ...(rate !== '' && { rate_limit_per_minute: Number(rate) }),
      ...(type === 'routing' && { limits: fromDraft(limits) }),
    });
  if (create.data) {
    return (
      <Dialog title="Key created" onClose={onClose}>
        <div className="stack">
          <Notice tone="warn">
            Copy it now. It is not shown again, because only its hash is stored.
          </Notice>
          <Code text={create.data.key} label="New key" />
          <div className="row row-end">
            <Button variant="primary" onClick={onClose}>
              Done
            </Button>
          </div>
        </div>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title="Create key"
      action="Create key"
      wide
      busy={create.isPending}
      error={errors.other}
      onSubmit={submit}
      onClose={onClose}
    >
      <div className="form-grid">
        <TextField
          label="Name"
          error={errors.of('name')}
          required
          maxLength={255}
          value={name}
          onChange={setName}
        />
        {can('own') && (
          <SelectField
            label="Type"
            hint={type === 'routing' ? 'Calls models.' : 'Manages the tenant; cannot call models.'}
            error={errors.of('type')}
            value={type}
            options={[
              ['routing', 'Routing'],
              ['management', 'Management'],
            ]}
            onChange={setType}
          />
        )}
        <TextField
          label="Expires"
          hint="In your time zone. Leave empty for no expiry."
          error={errors.of('expires_at')}
          type="datetime-local"
          value={expiry}
          onChange={setExpiry}
        />
      </div>
      <div className="form-grid">
        <NumberField
          label="Monthly limit in credits"
          hint={
            /^\d+$/.test(month)
              ? formatUsd(Number(month))
              : 'Cannot be changed later. Leave empty for no limit.'
          }
          error={errors.of('monthly_spend_limit')}
          min={1}
          value={month}
          onChange={setMonth}
        />
        <NumberField
          label="Requests per minute"
          hint="Cannot be changed later. Leave empty for 600."
          error={errors.of('rate_limit_per_minute')}
          min={1}
          value={rate}
          onChange={setRate}
        />
      </div>
      {type === 'routing' && (
        <details>
          <summary>Limits that you can change later</summary>
          <LimitsFields draft={limits} onChange={setLimits} error={create.error} path="limits." />
        </details>
      )}
    </FormDialog>
  );
}
