import { useState, type ReactNode } from 'react';
import { formErrors, useChange } from '../api/changes';
import type { components } from '../api/schema';
import { Code, Dialog, FormDialog, SelectField, TextField, Time } from '../ui';

type Invitation = components['schemas']['Invitation'];
type Invite = components['schemas']['InviteMember'];
export type MemberRole = Invite['role'];

export const MEMBER_ROLES = ['owner', 'developer', 'viewer', 'billing'] as const;

const MEANING: Record<MemberRole, string> = {
  owner: 'May do everything, and reads prompts that are kept.',
  developer: 'Makes keys, guardrails, destinations and alerts; reads all but prompts.',
  viewer: 'Reads all but prompts and secrets.',
  billing: 'Reads what is about money.',
};

/** Invites somebody by e-mail address, and shows the link to tell them. */
export function InviteMember({
  title,
  first,
  invite,
  touches,
  onClose,
}: {
  title: string;
  /** The role that is chosen at first. */
  first: MemberRole;
  invite: (body: Invite) => Promise<Invitation>;
  touches: readonly string[];
  onClose: () => void;
}): ReactNode {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<MemberRole>(first);
  const made = useChange(invite, touches);
  const errors = formErrors(made.error, ['email', 'role']);
  if (made.data) {
    return (
      <Dialog title={`${made.data.email} is invited`} onClose={onClose}>
        <div className="stack">
          <p>
            The gateway sends no mail: tell the person to log in there, with this address, until{' '}
            <Time at={made.data.expires_at} />. The link is no secret.
          </p>
          <Code text={loginUrl(made.data)} label="The link to log in" />
        </div>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={title}
      action="Invite"
      busy={made.isPending}
      error={errors.other}
      onSubmit={() => made.mutate({ email, role })}
      onClose={onClose}
    >
      <TextField
        label="E-mail"
        error={errors.of('email')}
        hint="As the login service knows it."
        type="email"
        required
        value={email}
        onChange={setEmail}
      />
      <SelectField
        label="Role"
        error={errors.of('role')}
        hint={MEANING[role]}
        value={role}
        options={MEMBER_ROLES}
        onChange={setRole}
      />
    </FormDialog>
  );
}

/** Where who is invited logs in. */
export function loginUrl({ login_path }: Invitation): string {
  return new URL(login_path, window.location.origin).href;
}
