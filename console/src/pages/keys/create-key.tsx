import { useState, type ReactNode } from 'react';
import { api, unwrap } from '../../api/client';
import { errorAt, errorElsewhere, useChange } from '../../api/changes';
import type { components } from '../../api/schema';
import { formatUsd } from '../../format/credits';
import { useSession } from '../../session/session';
import { Button, Code, Dialog, Field, Notice, NumberInput, Select, TextInput } from '../../ui';
import { fromDraft, toDraft } from '../../parts/limits-draft';
import { LimitsFields, limitParams } from '../../parts/limits-fields';

type Created = components['schemas']['CreatedApiKey'];

const FIELDS = ['name', 'type', 'expires_at', 'monthly_spend_limit', 'rate_limit_per_minute'];

/** A window that makes a key and shows it, this once. */
export function CreateKey({ onClose }: { onClose: () => void }): ReactNode {
  const [created, setCreated] = useState<Created>();
  return (
    <Dialog
      title={created ? 'The key is made' : 'New key'}
      open
      wide={!created}
      onOpenChange={(open) => !open && onClose()}
    >
      {created ? (
        <div className="stack">
          <Notice tone="warn">
            Copy it now. It is shown this once, and not stored in a form that could be read again.
          </Notice>
          <Code text={created.key} label="The new key" />
          <div className="row row-end">
            <Button variant="primary" onClick={onClose}>
              Done
            </Button>
          </div>
        </div>
      ) : (
        <CreateForm onCreated={setCreated} onClose={onClose} />
      )}
    </Dialog>
  );
}

function CreateForm({
  onCreated,
  onClose,
}: {
  onCreated: (key: Created) => void;
  onClose: () => void;
}): ReactNode {
  const { can } = useSession();
  const [name, setName] = useState('');
  const [type, setType] = useState<'routing' | 'management'>('routing');
  const [expiry, setExpiry] = useState('');
  const [month, setMonth] = useState('');
  const [rate, setRate] = useState('');
  const [limits, setLimits] = useState(() => toDraft(undefined));
  const create = useChange(
    (body: components['schemas']['CreateApiKey']) =>
      unwrap(api.POST('/v1/customer/api-keys', { body })),
    ['api-keys'],
    onCreated,
  );
  const other = errorElsewhere(create.error, [...FIELDS, ...limitParams('limits.')]);
  const submit = () =>
    create.mutate({
      name,
      type,
      ...(expiry !== '' && { expires_at: new Date(expiry).toISOString() }),
      ...(month !== '' && { monthly_spend_limit: Number(month) }),
      ...(rate !== '' && { rate_limit_per_minute: Number(rate) }),
      ...(type === 'routing' && { limits: fromDraft(limits) }),
    });
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div className="form-grid">
        <Field label="Name" error={errorAt(create.error, 'name')}>
          <TextInput
            required
            maxLength={255}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </Field>
        {can('own') && (
          <Field
            label="Type"
            hint={type === 'routing' ? 'Calls models.' : 'Manages the account, calls no models.'}
            error={errorAt(create.error, 'type')}
          >
            <Select
              value={type}
              onChange={({ target }) =>
                setType(target.value === 'management' ? 'management' : 'routing')
              }
            >
              <option value="routing">Routing</option>
              <option value="management">Management</option>
            </Select>
          </Field>
        )}
        <Field
          label="Ends"
          hint="In your time zone. Empty: never."
          error={errorAt(create.error, 'expires_at')}
        >
          <TextInput
            type="datetime-local"
            value={expiry}
            onChange={({ target }) => setExpiry(target.value)}
          />
        </Field>
      </div>
      <div className="form-grid">
        <Field
          label="Credits a month"
          hint={/^\d+$/.test(month) ? formatUsd(Number(month)) : 'Fixed for good. Empty: no limit.'}
          error={errorAt(create.error, 'monthly_spend_limit')}
        >
          <NumberInput min={1} value={month} onChange={({ target }) => setMonth(target.value)} />
        </Field>
        <Field
          label="Calls a minute"
          hint="Fixed for good. Empty: 600."
          error={errorAt(create.error, 'rate_limit_per_minute')}
        >
          <NumberInput min={1} value={rate} onChange={({ target }) => setRate(target.value)} />
        </Field>
      </div>
      {type === 'routing' && (
        <details>
          <summary>Limits that can be changed later</summary>
          <LimitsFields draft={limits} onChange={setLimits} error={create.error} path="limits." />
        </details>
      )}
      {other && <Notice tone="bad">{other}</Notice>}
      <div className="row row-end">
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="primary" type="submit" busy={create.isPending}>
          Make the key
        </Button>
      </div>
    </form>
  );
}
