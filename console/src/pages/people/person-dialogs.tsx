import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import type { components } from '../../api/schema';
import { ConfirmDialog, FormDialog, SelectField, toast } from '../../ui';
import { OPERATOR_ROLES, type OperatorRole } from './operator-role';

export type Person = components['schemas']['Person'];
export interface Ask {
  person: Person;
  what: 'role' | 'disable' | 'enable' | 'end';
}

const TITLE_OF: Record<Exclude<Ask['what'], 'role'>, (name: string) => string> = {
  disable: (name) => `Disable ${name}?`,
  enable: (name) => `Let ${name} log in again?`,
  end: (name) => `End all sessions of ${name}?`,
};
const TEXT_OF: Record<Exclude<Ask['what'], 'role'>, string> = {
  disable: 'The person is out within a second, everywhere, and can not log in any more.',
  enable: 'The person can log in again, with the roles of before.',
  end: 'The person has to log in again.',
};
const ACTION_OF = { disable: 'Disable', enable: 'Enable', end: 'End sessions' } as const;

/** Asks before something is done to a person. */
export function PersonDialog({ ask, onClose }: { ask: Ask; onClose: () => void }): ReactNode {
  const { person, what } = ask;
  const change = useChange(
    (is_disabled: boolean) =>
      api.PATCH('/v1/admin/people/{id}', {
        params: { path: { id: person.id } },
        body: { is_disabled },
      }),
    ['admin'],
  );
  if (what === 'role') return <RoleDialog person={person} onClose={onClose} />;
  const confirm = async () => {
    if (what !== 'end') {
      await change.mutateAsync(what === 'disable');
      toast(`${person.name} is ${what}d.`);
      return;
    }
    const { ended } = await api.DELETE('/v1/admin/people/{id}/sessions', {
      params: { path: { id: person.id } },
    });
    toast(ended === 1 ? '1 session is ended.' : `${ended} sessions are ended.`);
  };
  return (
    <ConfirmDialog
      title={TITLE_OF[what](person.name)}
      text={TEXT_OF[what]}
      action={ACTION_OF[what]}
      danger={what !== 'enable'}
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
      toast(`The role of ${person.name} is changed.`);
      onClose();
    },
  );
  const errors = formErrors(change.error, ['operator_role']);
  return (
    <FormDialog
      title={`Operator's role of ${person.name}`}
      busy={change.isPending}
      disabled={role === (person.operator_role ?? '')}
      error={errors.other}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      <SelectField
        label="Role"
        hint="An auditor sees all and changes nothing; an admin may do all. It holds within a second."
        error={errors.of('operator_role')}
        value={role}
        options={[['', 'no operator'], ...OPERATOR_ROLES]}
        onChange={setRole}
      />
    </FormDialog>
  );
}
