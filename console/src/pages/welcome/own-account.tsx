import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { QueryState, SelectField, TextField } from '../../ui';
import { CheckedForm } from './checked-form';

/** An account of the tenant's own with a vendor. */
export function OwnAccount(): ReactNode {
  const [provider, setProvider] = useState('');
  const [key, setKey] = useState('');
  const [settings, setSettings] = useState<Record<string, string>>({});
  const offers = useQuery({
    queryKey: ['account-providers'],
    queryFn: ({ signal }) => api.GET('/v1/customer/provider-credentials/providers', { signal }),
    staleTime: 60_000,
  });
  const offer = offers.data?.data.find((each) => each.provider === provider);
  const names = offer?.settings.map(({ name }) => name) ?? [];
  const given = names.flatMap((name) => (settings[name] ? [[name, settings[name]] as const] : []));
  const body = { provider, key, settings: Object.fromEntries(given) };
  const check = useChange(() => api.POST('/v1/customer/provider-credentials/test', { body }), []);
  // It was tried before, and whoever stores what was refused means it.
  const save = useChange(
    () => api.POST('/v1/customer/provider-credentials', { body: { ...body, check: false } }),
    ['accounts', 'models'],
    () => setKey(''),
  );
  const fields = ['provider', 'key', ...names.map((name) => `settings.${name}`)];
  const error = formErrors(check.error ?? save.error, fields);
  return (
    <CheckedForm
      check={() => check.mutateAsync(undefined)}
      save={() => save.mutateAsync(undefined)}
      busy={check.isPending || save.isPending}
      error={error.other}
      stored={`The account with ${offer?.name ?? provider} is stored. Its models are there at once.`}
      given={JSON.stringify(body)}
    >
      <QueryState query={offers}>
        {({ data }) => (
          <SelectField
            label="Vendor"
            error={error.of('provider')}
            required
            value={provider}
            options={[
              ['', 'Choose one'],
              ...data.map((each) => [each.provider, each.name] as const),
            ]}
            onChange={setProvider}
          />
        )}
      </QueryState>
      <TextField
        label="Key"
        hint={offer?.key_description}
        error={error.of('key')}
        required
        type="password"
        autoComplete="off"
        value={key}
        onChange={setKey}
      />
      {offer?.settings.map((setting) => (
        <TextField
          key={setting.name}
          label={setting.is_required ? setting.name : `${setting.name} (optional)`}
          hint={setting.description}
          error={error.of(`settings.${setting.name}`)}
          required={setting.is_required}
          value={settings[setting.name] ?? ''}
          onChange={(text) => setSettings({ ...settings, [setting.name]: text })}
        />
      ))}
    </CheckedForm>
  );
}
