import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, unwrap } from '../../api/client';
import { formErrors } from '../../api/changes';
import { ConfirmDialog, Field, FormDialog, TextInput, toast } from '../../ui';

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
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState('');
  const pause = useMutation({
    mutationFn: () =>
      unwrap(
        api.POST('/v1/admin/routes/pause', {
          body: { ...name, reason, until: until === '' ? null : new Date(until).toISOString() },
        }),
      ),
    onSuccess: async () => {
      toast(`${nameOf(name)} is paused.`);
      onClose();
      await client.invalidateQueries({ queryKey: ['admin', 'routes'] });
    },
  });
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
      <Field label="Reason" hint="Other operators read it" error={errors.of('reason')}>
        <TextInput
          value={reason}
          required
          maxLength={1_000}
          onChange={(event) => setReason(event.target.value)}
        />
      </Field>
      <Field
        label="Until"
        hint="In your own time zone. Empty: until somebody resumes it"
        error={errors.of('until')}
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

export function ResumeDialog({
  name,
  onClose,
}: {
  name: PausableName | undefined;
  onClose: () => void;
}): ReactNode {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      title={`Resume ${name ? nameOf(name) : ''}?`}
      text="It is tried again within a second, on every instance."
      action="Resume"
      open={name !== undefined}
      onOpenChange={onClose}
      onConfirm={async () => {
        if (!name) return;
        const { provider, model } = name;
        await unwrap(api.POST('/v1/admin/routes/resume', { body: { provider, model } }));
        toast(`${nameOf(name)} is in use again.`);
        await client.invalidateQueries({ queryKey: ['admin', 'routes'] });
      }}
    />
  );
}
