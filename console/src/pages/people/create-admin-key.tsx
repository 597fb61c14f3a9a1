import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { fromLocalInput } from '../../format/times';
import { FormDialog, SecretDialog, TextField } from '../../ui';
import { OperatorRoleField, type OperatorRole } from './operator-role';

/** Creates an operator key and shows it once. */
export function CreateAdminKey({ onClose }: { onClose: () => void }): ReactNode {
  const [name, setName] = useState('');
  const [role, setRole] = useState<OperatorRole>('auditor');
  const [until, setUntil] = useState('');
  const create = useChange(
    () =>
      api.POST('/v1/admin/keys', {
        body: { name, role, expires_at: fromLocalInput(until) ?? null },
      }),
    ['admin'],
  );
  const errors = formErrors(create.error, ['name', 'role', 'expires_at']);
  if (create.data) {
    return (
      <SecretDialog
        title={`Key ${create.data.name} created`}
        label="New key"
        secret={create.data.key}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      title="Create operator key"
      action="Create key"
      busy={create.isPending}
      error={errors.other}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Shown in the audit log"
        error={errors.of('name')}
        value={name}
        required
        onChange={setName}
      />
      <OperatorRoleField role={role} onChange={setRole} error={errors.of('role')} />
      <TextField
        label="Expires"
        hint="In your time zone. Leave empty for no expiry."
        error={errors.of('expires_at')}
        type="datetime-local"
        value={until}
        onChange={setUntil}
      />
    </FormDialog>
  );
}
