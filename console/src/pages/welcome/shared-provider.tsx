import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { SelectField, TextField } from '../../ui';
import { CheckedForm } from './checked-form';

/** Vendors that need only a key, with their base URLs. */
const VENDORS = [
  { id: 'openai', name: 'OpenAI', url: 'https://api.openai.com/v1' },
  { id: 'anthropic', name: 'Anthropic', url: 'https://api.anthropic.com' },
  { id: 'fish-audio', name: 'Fish Audio', url: 'https://api.fish.audio' },
  { id: 'elevenlabs', name: 'ElevenLabs', url: 'https://api.elevenlabs.io' },
  { id: 'deepgram', name: 'Deepgram', url: 'https://api.deepgram.com' },
];
const OTHER = 'other';

/** Adds a provider for all tenants to the configuration. */
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
        body: { provider, comment: 'Getting started' },
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
      savedText={`${name} is connected for all tenants. ${known ? 'Its models are available now.' : 'Add its models in the catalogue.'}`}
      values={JSON.stringify([path, provider])}
    >
      <SelectField
        label="Vendor"
        hint="Azure, Bedrock and Vertex need more than a key. See docs/configuration.md."
        value={vendor}
        options={[
          ...VENDORS.map((each) => [each.id, each.name] as const),
          [OTHER, 'OpenAI-compatible server'],
        ]}
        onChange={setVendor}
      />
      {!known && (
        <>
          <TextField
            label="Id"
            hint="Its models are called as id/model and must be in the catalogue."
            required
            value={id}
            onChange={setId}
          />
          <TextField
            label="Base URL"
            hint="Including the version, such as http://10.0.0.7:8000/v1"
            required
            type="url"
            value={url}
            onChange={setUrl}
          />
        </>
      )}
      <TextField
        label={known ? 'API key' : 'API key (optional)'}
        type="password"
        required={known !== undefined}
        autoComplete="off"
        value={key}
        onChange={setKey}
      />
    </CheckedForm>
  );
}
