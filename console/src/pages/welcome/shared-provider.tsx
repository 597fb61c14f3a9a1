import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { SelectField, TextField } from '../../ui';
import { CheckedForm } from './checked-form';

/** Vendors that need a key and nothing else, with their addresses. */
const VENDORS = [
  { id: 'openai', name: 'OpenAI', url: 'https://api.openai.com/v1' },
  { id: 'anthropic', name: 'Anthropic', url: 'https://api.anthropic.com' },
  { id: 'fish-audio', name: 'Fish Audio', url: 'https://api.fish.audio' },
  { id: 'elevenlabs', name: 'ElevenLabs', url: 'https://api.elevenlabs.io' },
  { id: 'deepgram', name: 'Deepgram', url: 'https://api.deepgram.com' },
];
const OTHER = 'other';

/** A vendor for all tenants: it comes into the gateway's configuration, without a restart. */
export function SharedProvider(): ReactNode {
  const [vendor, setVendor] = useState(VENDORS[0]?.id ?? OTHER);
  const [id, setId] = useState('');
  const [url, setUrl] = useState('');
  const [key, setKey] = useState('');
  const known = VENDORS.find((each) => each.id === vendor);
  const name = known?.name ?? id;
  const path = { id: known?.id ?? id };
  const provider = { name, base_url: known?.url ?? url, ...(key !== '' && { api_key: key }) };
  const check = useChange(
    () =>
      api.POST('/v1/admin/config/providers/{id}/test', { params: { path }, body: { provider } }),
    [],
  );
  const save = useChange(
    () =>
      api.PUT('/v1/admin/config/providers/{id}', {
        params: { path },
        body: { provider, comment: 'First steps' },
      }),
    ['models', 'admin', 'providers'],
    () => setKey(''),
  );
  const error = formErrors(check.error ?? save.error, []);
  return (
    <CheckedForm
      check={() => check.mutateAsync()}
      save={() => save.mutateAsync()}
      busy={check.isPending || save.isPending}
      error={error.other}
      stored={`${name} is connected, for all tenants. ${known ? 'Its models are there at once.' : 'Its models are added in the catalogue.'}`}
      given={JSON.stringify([path, provider])}
    >
      <SelectField
        label="Vendor"
        hint="Azure, Bedrock and Vertex need more than a key: docs/configuration.md has their variables."
        value={vendor}
        options={[
          ...VENDORS.map((each) => [each.id, each.name] as const),
          [OTHER, 'A server that speaks the chat API'],
        ]}
        onChange={setVendor}
      />
      {!known && (
        <>
          <TextField
            label="Id"
            hint="Its models are called as id/model, by a catalogue that names them."
            required
            value={id}
            onChange={setId}
          />
          <TextField
            label="Address"
            hint="With its version, as http://10.0.0.7:8000/v1"
            required
            type="url"
            value={url}
            onChange={setUrl}
          />
        </>
      )}
      <TextField
        label={known ? 'Key' : 'Key (optional)'}
        type="password"
        required={known !== undefined}
        autoComplete="off"
        value={key}
        onChange={setKey}
      />
    </CheckedForm>
  );
}
