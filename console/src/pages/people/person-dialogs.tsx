import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import type { components } from '../../api/schema';
import { ConfirmDialog, FormDialog, SelectField, toast } from '../../ui';
import { OPERATOR_ROLES, type OperatorRole } from './operator-role';

export type Person = components['schemas']['Person'];
export interface PersonAction {
  person: Person;
  kind: 'role' | 'disable' | 'enable' | 'end';
}

const TITLE_OF: Record<Exclude<PersonAction['kind'], 'role'>, (name: string) => string> = {
  disable: (name) => `Disable ${name}?`,
  enable: (name) => `Enable ${name}?`,
  end: (name) => `End all sessions of ${name}?`,
};
const TEXT_OF: Record<Exclude<PersonAction['kind'], 'role'>, string> = {
  disable: 'The person is logged out of all instances within a second and cannot log in again.',
  enable: 'The person can log in again and regains their previous roles.',
  end: 'The person must log in again.',
};
const ACTION_OF = { disable: 'Disable', enable: 'Enable', end: 'End sessions' } as const;

/** Confirms an action on a person. */
export function PersonDialog({
  action,
  onClose,
}: {
  action: PersonAction;
  onClose: () => void;
}): ReactNode {
  const { person, kind } = action;
  const change = useChange(
    (is_disabled: boolean) =>
      api.PATCH('/v1/admin/people/{id}', {
        params: { path: { id: person.id } },
        body: { is_disabled },
      }),
    ['admin'],
  );
  if (kind === 'role') return <RoleDialog person={person} onClose={onClose} />;
  const confirm = async () => {
    if (kind !== 'end') {
      await change.mutateAsync(kind === 'disable');
      toast(`${person.name} was ${kind}d.`);
      return;
    }
    const { ended } = await api.DELETE('/v1/admin/people/{id}/sessions', {
      params: { path: { id: person.id } },
    });
    toast(ended === 1 ? 'Ended 1 session.' : `Ended ${ended} sessions.`);
  };
  return (
    <ConfirmDialog
      title={TITLE_OF[kind](person.name)}
      text={TEXT_OF[kind]}
      action={ACTION_OF[kind]}
      danger={kind !== 'enable'}
      onClose={onClose}
      onConfirm={confirm}
    />
  );
}

function RoleDialog({ person, onClose }: { person: Person; onClose: () => void }): ReactNode {
  const [role, setRole] = useState<OperatorRole | ''>(person.operator_role ?? '');
  const change = useChange(
    () =>
      api.PATCH('/v1/admin/people/{id}', {
        params: { path: { id: person.id } },
        body: { operator_role: role === '' ? null : role },
      }),
    ['admin'],
    () => {
      toast(`Operator role of ${person.name} saved.`);
      onClose();
    },
  );
  const errors = formErrors(change.error, ['operator_role']);
  return (
    <FormDialog
      title={`Operator role of ${person.name}`}
      busy={change.isPending}
      disabled={role === (person.operator_role ?? '')}
      error={errors.other}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      <SelectField
        label="Role"
        hint="Auditors can read everything; admins can also make changes. Applies within a second."
        error={errors.of('operator_role')}
        value={role}
        options={[['', 'Not an operator'], ...OPERATOR_ROLES]}
        onChange={setRole}
      />
    </FormDialog>
  );
}
