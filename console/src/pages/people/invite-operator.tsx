import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, unwrap } from '../../api/client';
import { formErrors } from '../../api/changes';
import { Field, FormDialog, Select, TextInput, toast } from '../../ui';

export const OPERATOR_ROLES = ['admin', 'auditor'] as const;

/** Whoever logs in with the address has the role from then on. */
export function InviteOperator({ onClose }: { onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<(typeof OPERATOR_ROLES)[number]>('auditor');
  const invite = useMutation({
    mutationFn: () => unwrap(api.POST('/v1/admin/people/invitations', { body: { email, role } })),
    onSuccess: async () => {
      toast(`${email} is invited, and becomes an operator by logging in.`);
      onClose();
      await client.invalidateQueries({ queryKey: ['admin', 'people'] });
    },
  });
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
      <Field label="E-mail" hint="As the login service knows it" error={errors.of('email')}>
        <TextInput
          type="email"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
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
    </FormDialog>
  );
}
