import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { fromLocalInput } from '../../format/times';
import { ConfirmDialog, FormDialog, TextField, toast } from '../../ui';

/** A route, or a whole provider if the model is null. */
export interface PausableName {
  provider: string;
  model: string | null;
}

function nameOf({ provider, model }: PausableName): string {
  return model === null ? `all routes of ${provider}` : `${model} at ${provider}`;
}

/** Pauses a route or a whole provider. */
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
      toast(`Paused ${nameOf(name)}.`);
      onClose();
    },
  );
  const errors = formErrors(pause.error, ['reason', 'until']);
  return (
    <FormDialog
      title={`Pause ${nameOf(name)}`}
      action={name.model === null ? 'Pause provider' : 'Pause route'}
      danger
      busy={pause.isPending}
      error={errors.other}
      onSubmit={() => pause.mutate()}
      onClose={onClose}
    >
      <p>All instances stop sending requests to it. Requests in progress finish.</p>
      <TextField
        label="Reason"
        hint="Shown to other operators"
        error={errors.of('reason')}
        value={reason}
        required
        maxLength={1_000}
        onChange={setReason}
      />
      <TextField
        label="Resume at"
        hint="In your time zone. Leave empty to pause until an operator resumes it."
        error={errors.of('until')}
        type="datetime-local"
        value={until}
        onChange={setUntil}
      />
    </FormDialog>
  );
}

/** Resumes a route or a whole provider after confirmation. */
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
    () => toast(`Resumed ${nameOf(name)}.`),
  );
  return (
    <ConfirmDialog
      title={`Resume ${nameOf(name)}?`}
      text="All instances send requests to it again within a second."
      action={name.model === null ? 'Resume provider' : 'Resume route'}
      onClose={onClose}
      onConfirm={() => resume.mutateAsync()}
    />
  );
}
