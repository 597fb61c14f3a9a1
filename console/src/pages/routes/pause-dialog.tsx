import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { fromLocalInput } from '../../format/times';
import { ConfirmDialog, FormDialog, TextField, toast } from '../../ui';

/** A model at a provider; null: all that the provider serves. */
export interface PausableName {
  provider: string;
  model: string | null;
}

function nameOf({ provider, model }: PausableName): string {
  return model === null ? `all of ${provider}` : `${model} at ${provider}`;
}

/** Takes a route, or a whole provider, out of use. */
export function PauseDialog({
  name,
  onClose,
}: {
  name: PausableName;
  onClose: () => void;
}): ReactNode {
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState('');
  const pause = useChange(
    () =>
      api.POST('/v1/admin/routes/pause', {
        body: { ...name, reason, until: fromLocalInput(until) ?? null },
      }),
    ['admin'],
    () => {
      toast(`${nameOf(name)} is paused.`);
      onClose();
    },
  );
  const errors = formErrors(pause.error, ['reason', 'until']);
  return (
    <FormDialog
      title={`Pause ${nameOf(name)}`}
      action="Pause"
      danger
      busy={pause.isPending}
      error={errors.other}
      onSubmit={() => pause.mutate()}
      onClose={onClose}
    >
      <p>No instance tries it any more. Requests under way go on.</p>
      <TextField
        label="Reason"
        hint="Other operators read it"
        error={errors.of('reason')}
        value={reason}
        required
        maxLength={1_000}
        onChange={setReason}
      />
      <TextField
        label="Until"
        hint="In your own time zone. Empty: until somebody resumes it"
        error={errors.of('until')}
        type="datetime-local"
        value={until}
        onChange={setUntil}
      />
    </FormDialog>
  );
}

/** Asks before a route, or a whole provider, is used again. */
export function ResumeDialog({
  name,
  onClose,
}: {
  name: PausableName;
  onClose: () => void;
}): ReactNode {
  const { provider, model } = name;
  const resume = useChange(
    () => api.POST('/v1/admin/routes/resume', { body: { provider, model } }),
    ['admin'],
    () => toast(`${nameOf(name)} is in use again.`),
  );
  return (
    <ConfirmDialog
      title={`Resume ${nameOf(name)}?`}
      text="It is tried again within a second, on every instance."
      action="Resume"
      onClose={onClose}
      onConfirm={() => resume.mutateAsync()}
    />
  );
}
