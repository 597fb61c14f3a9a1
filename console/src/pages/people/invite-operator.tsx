import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { FormDialog, TextField, toast } from '../../ui';
import { OperatorRoleField, type OperatorRole } from './operator-role';

/** Invites a person by email; the role applies from their next login. */
export function InviteOperator({ onClose }: { onClose: () => void }): ReactNode {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<OperatorRole>('auditor');
  const invite = useChange(
    () => api.POST('/v1/admin/people/invitations', { body: { email, role } }),
    ['admin'],
    () => {
      toast(`Invited ${email}. They become an operator at their next login.`);
      onClose();
    },
  );
  const errors = formErrors(invite.error, ['email', 'role']);
  return (
    <FormDialog
      title="Invite operator"
      action="Send invitation"
      busy={invite.isPending}
      error={errors.other}
      onSubmit={() => invite.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Email"
        hint="The address registered with your single sign-on."
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
