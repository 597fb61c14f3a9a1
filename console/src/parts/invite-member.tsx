import { useState, type ReactNode } from 'react';
import { formErrors, useChange } from '../api/changes';
import type { components } from '../api/schema';
import { Code, Dialog, FormDialog, SelectField, TextField, Time } from '../ui';

type Invitation = components['schemas']['Invitation'];
type Invite = components['schemas']['InviteMember'];
export type MemberRole = Invite['role'];

export const MEMBER_ROLES = ['owner', 'developer', 'viewer', 'billing'] as const;

const MEANING: Record<MemberRole, string> = {
  owner: 'Full access, including stored prompts and answers.',
  developer: 'Manages keys, guardrails, destinations and alerts. Reads everything except prompts.',
  viewer: 'Reads everything except prompts and secrets.',
  billing: 'Reads balance, spend and statements.',
};

/** Invites a person by email, then shows the login link to pass on. */
export function InviteMember({
  title,
  first,
  invite,
  invalidates,
  onClose,
}: {
  title: string;
  /** Initially selected role. */
  first: MemberRole;
  invite: (body: Invite) => Promise<Invitation>;
  invalidates: readonly string[];
  onClose: () => void;
}): ReactNode {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<MemberRole>(first);
  const created = useChange(invite, invalidates);
  const errors = formErrors(created.error, ['email', 'role']);
  if (created.data) {
    return (
      <Dialog title={`Invitation for ${created.data.email}`} onClose={onClose}>
        <div className="stack">
          <p>
            The gateway sends no email. Send this link to the person, who logs in with this address
            by <Time at={created.data.expires_at} />. The link is not secret.
          </p>
          <Code text={loginUrl(created.data)} label="Login link" />
        </div>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={title}
      action="Invite"
      busy={created.isPending}
      error={errors.other}
      onSubmit={() => created.mutate({ email, role })}
      onClose={onClose}
    >
      <TextField
        label="Email"
        error={errors.of('email')}
        hint="The address registered with your single sign-on."
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

/** Returns the URL where an invited person logs in. */
export function loginUrl({ login_path }: Invitation): string {
  return new URL(login_path, window.location.origin).href;
}
