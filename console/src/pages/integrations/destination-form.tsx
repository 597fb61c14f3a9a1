import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import type { components } from '../../api/schema';
import { useSession } from '../../session/session';
import {
  Checkbox,
  Field,
  FormDialog,
  Notice,
  NumberField,
  TextArea,
  TextField,
  toast,
} from '../../ui';
import { readHeaders, writeHeaders } from './headers';

export type Destination = components['schemas']['BroadcastDestination'];

/** Adds or edits a destination. The API masks stored headers as `********`; masked values are kept. */
export function DestinationForm({
  destination,
  onClose,
}: {
  destination: Destination | undefined;
  onClose: () => void;
}): ReactNode {
  const [url, setUrl] = useState(destination?.url ?? '');
  const [headers, setHeaders] = useState(writeHeaders(destination?.headers ?? {}));
  const [share, setShare] = useState(String((destination?.sampling_rate ?? 1) * 100));
  const { can } = useSession();
  const mayHaveContent = can('content') || destination?.include_content === true;
  const [isEnabled, setIsEnabled] = useState(destination?.enabled ?? true);
  const [hasContent, setHasContent] = useState(destination?.include_content ?? false);
  const save = useChange(
    async () => {
      const body = {
        url,
        headers: readHeaders(headers),
        sampling_rate: Number(share) / 100,
        enabled: isEnabled,
        ...(mayHaveContent && { include_content: hasContent }),
      };
      return destination
        ? api.PUT('/v1/customer/broadcast/destinations/{id}', {
            params: { path: { id: destination.id } },
            body,
          })
        : api.POST('/v1/customer/broadcast/destinations', { body });
    },
    ['destinations'],
    () => {
      toast('Destination saved.');
      onClose();
    },
  );
  const errors = formErrors(save.error, ['url', 'headers', 'sampling_rate']);
  return (
    <FormDialog
      title={destination ? 'Edit destination' : 'Add destination'}
      action={destination ? 'Save' : 'Add destination'}
      busy={save.isPending}
      error={errors.other}
      onClose={onClose}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label="URL"
        hint="A collector that accepts OTLP/JSON over HTTP."
        error={errors.of('url')}
        required
        type="url"
        placeholder="https://collector.example.com/v1/traces"
        value={url}
        onChange={setUrl}
      />
      <Field
        label="Headers"
        hint="One per line, such as X-Api-Key: secret. Stored encrypted; keep the asterisks to keep a stored value."
        error={errors.of('headers')}
      >
        <TextArea rows={3} value={headers} onChange={({ target }) => setHeaders(target.value)} />
      </Field>
      <NumberField
        label="Sampling rate in percent"
        error={errors.of('sampling_rate')}
        min={0}
        max={100}
        step="any"
        value={share}
        onChange={setShare}
      />
      <Checkbox label="Enabled" checked={isEnabled} onChange={setIsEnabled} />
      {mayHaveContent && (
        <Checkbox
          label="Include prompts and answers"
          checked={hasContent}
          onChange={setHasContent}
        />
      )}
      {destination && (url !== destination.url || hasContent !== destination.include_content) && (
        <Notice tone="warn">
          Changing the URL or the content clears the stored headers. Enter them again.
        </Notice>
      )}
    </FormDialog>
  );
}
