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

/** Adds or changes a destination. Headers that stay `********` stay what they were. */
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
      toast('The destination is stored.');
      onClose();
    },
  );
  const errors = formErrors(save.error, ['url', 'headers', 'sampling_rate']);
  return (
    <FormDialog
      title={destination ? 'Change the destination' : 'Add a destination'}
      busy={save.isPending}
      error={errors.other}
      onClose={onClose}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label="URL"
        hint="Of a collector that takes OTLP in JSON."
        error={errors.of('url')}
        required
        type="url"
        placeholder="https://collector.example.com/v1/traces"
        value={url}
        onChange={setUrl}
      />
      <Field
        label="Headers"
        hint="One a line, as X-Api-Key: secret. They are stored encrypted; asterisks stand for what is stored."
        error={errors.of('headers')}
      >
        <TextArea rows={3} value={headers} onChange={({ target }) => setHeaders(target.value)} />
      </Field>
      <NumberField
        label="Share of traces in percent"
        error={errors.of('sampling_rate')}
        min={0}
        max={100}
        step="any"
        value={share}
        onChange={setShare}
      />
      <Checkbox label="Send traces" checked={isEnabled} onChange={setIsEnabled} />
      {mayHaveContent && (
        <Checkbox label="With prompts and answers" checked={hasContent} onChange={setHasContent} />
      )}
      {destination && (url !== destination.url || hasContent !== destination.include_content) && (
        <Notice tone="warn">Headers of before are not sent there: give them anew.</Notice>
      )}
    </FormDialog>
  );
}
