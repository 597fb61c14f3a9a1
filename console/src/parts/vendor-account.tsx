import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../api/client';
import type { components } from '../api/schema';
import { QueryState, SelectField, TextField } from '../ui';

type Account = Pick<components['schemas']['ProviderCredential'], 'provider' | 'settings'>;

/**
 * Holds the form state of a BYOK account.
 *
 * @param first initial values
 */
export function useVendorAccount(first?: Account) {
  const [provider, setProvider] = useState(first?.provider ?? '');
  const [key, setKey] = useState('');
  const [settings, setSettings] = useState<Record<string, string>>(first?.settings ?? {});
  const offers = useQuery({
    queryKey: ['account-providers'],
    queryFn: ({ signal }) => api.GET('/v1/customer/provider-credentials/providers', { signal }),
    staleTime: 60_000,
  });
  const offer = offers.data?.data.find((each) => each.provider === provider);
  // Drops settings of a previously selected vendor.
  const names = offer?.settings.map(({ name }) => name) ?? Object.keys(settings);
  const given = names.flatMap((name) => (settings[name] ? [[name, settings[name]] as const] : []));
  return {
    offers,
    offer,
    /** The account in the API's format. */
    account: { provider, key, settings: Object.fromEntries(given) },
    /** API names of the fields that show their own errors. */
    params: ['provider', 'key', ...names.map((name) => `settings.${name}`)],
    settings,
    setProvider,
    setKey,
    setSettings,
  };
}

/** Form fields of a BYOK account: vendor, key and the vendor's settings. */
export function VendorAccountFields({
  form: { offers, offer, account, settings, setProvider, setKey, setSettings },
  label,
  isFixed = false,
  keyHint,
  errorOf,
}: {
  form: ReturnType<typeof useVendorAccount>;
  /** Label of the vendor field. */
  label: string;
  /** Disables the vendor field. */
  isFixed?: boolean;
  keyHint: string | undefined;
  errorOf: (param: string) => string | undefined;
}): ReactNode {
  return (
    <>
      <QueryState query={offers}>
        {({ data }) => (
          <SelectField
            label={label}
            error={errorOf('provider')}
            required
            disabled={isFixed}
            value={account.provider}
            options={[
              ['', `Select a ${label.toLowerCase()}`],
              ...data.map((each) => [each.provider, each.name] as const),
            ]}
            onChange={setProvider}
          />
        )}
      </QueryState>
      <TextField
        label="API key"
        hint={keyHint}
        error={errorOf('key')}
        required
        type="password"
        value={account.key}
        onChange={setKey}
      />
      {offer?.settings.map(({ name, is_required: isRequired, description }) => (
        <TextField
          key={name}
          label={isRequired ? name : `${name} (optional)`}
          hint={description}
          error={errorOf(`settings.${name}`)}
          required={isRequired}
          value={settings[name] ?? ''}
          onChange={(text) => setSettings({ ...settings, [name]: text })}
        />
      ))}
    </>
  );
}
