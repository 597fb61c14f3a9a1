import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { FormDialog, TextField, toast } from '../../ui';
import { OperatorRoleField, type OperatorRole } from './operator-role';

/** Whoever logs in with the address has the role from then on. */
export function InviteOperator({ onClose }: { onClose: () => void }): ReactNode {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<OperatorRole>('auditor');
  const invite = useChange(
    () => api.POST('/v1/admin/people/invitations', { body: { email, role } }),
    ['admin'],
    () => {
      toast(`${email} is invited, and becomes an operator by logging in.`);
      onClose();
    },
  );
  const errors = formErrors(invite.error, ['email', 'role']);
  return (
    <FormDialog
      title="Invite an operator"
      action="Invite"
      busy={invite.isPending}
      error={errors.other}
      onSubmit={() => invite.mutate()}
      onClose={onClose}
    >
      <TextField
        label="E-mail"
        hint="As the login service knows it"
        error={errors.of('email')}
        type="email"
        required
        value={email}
        onChange={setEmail}
      />
      <OperatorRoleField role={role} onChange={setRole} error={errors.of('role')} />
    </FormDialog>
  );
}
