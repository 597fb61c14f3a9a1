import { useState, type ReactNode } from 'react';
import { api, unwrap } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { Code, Dialog, Field, FormDialog, Notice, Select, TextInput } from '../../ui';
import { OPERATOR_ROLES } from './invite-operator';

/** Makes an operator's key, which is shown once. */
export function CreateAdminKey({ onClose }: { onClose: () => void }): ReactNode {
  const [name, setName] = useState('');
  const [role, setRole] = useState<(typeof OPERATOR_ROLES)[number]>('auditor');
  const [until, setUntil] = useState('');
  const create = useChange(
    () =>
      unwrap(
        api.POST('/v1/admin/keys', {
          body: { name, role, expires_at: until === '' ? null : new Date(until).toISOString() },
        }),
      ),
    ['admin'],
  );
  const errors = formErrors(create.error, ['name', 'role', 'expires_at']);
  if (create.data) {
    return (
      <Dialog
        title={`${create.data.name} is made`}
        open
        onOpenChange={(open) => !open && onClose()}
      >
        <Notice tone="warn">It is shown only now. Copy it before you go on.</Notice>
        <Code text={create.data.key} label="Key" />
      </Dialog>
    );
  }
  return (
    <FormDialog
      title="Make an operator's key"
      action="Make"
      busy={create.isPending}
      error={errors.other}
      onSubmit={() => create.mutate(undefined)}
      onClose={onClose}
    >
      <Field label="Name" hint="What uses it; the audit log shows it" error={errors.of('name')}>
        <TextInput value={name} required onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field
        label="Role"
        hint="An auditor sees all and changes nothing; an admin may do all"
        error={errors.of('role')}
      >
        <Select
          value={role}
          onChange={({ target }) =>
            setRole(OPERATOR_ROLES.find((one) => one === target.value) ?? 'auditor')
          }
        >
          {OPERATOR_ROLES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </Select>
      </Field>
      <Field
        label="Until"
        hint="In your own time zone. Empty: until somebody revokes it"
        error={errors.of('expires_at')}
      >
        <TextInput
          type="datetime-local"
          value={until}
          onChange={(event) => setUntil(event.target.value)}
        />
      </Field>
    </FormDialog>
  );
}
