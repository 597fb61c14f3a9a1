import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../api/client';
import type { components } from '../api/schema';
import { QueryState, SelectField, TextField } from '../ui';

type Account = Pick<components['schemas']['ProviderCredential'], 'provider' | 'settings'>;

/**
 * What a form knows of an account of the tenant's own with a vendor.
 *
 * @param first what it begins with
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
  // Settings of a vendor that was chosen before are none of this one's.
  const names = offer?.settings.map(({ name }) => name) ?? Object.keys(settings);
  const given = names.flatMap((name) => (settings[name] ? [[name, settings[name]] as const] : []));
  return {
    offers,
    offer,
    /** As the API takes it. */
    account: { provider, key, settings: Object.fromEntries(given) },
    /** The fields that show their own errors, as the API names them. */
    params: ['provider', 'key', ...names.map((name) => `settings.${name}`)],
    settings,
    setProvider,
    setKey,
    setSettings,
  };
}

/** The controls of an account: with which vendor, its key, and what else that vendor needs. */
export function VendorAccountFields({
  form: { offers, offer, account, settings, setProvider, setKey, setSettings },
  label,
  isFixed = false,
  keyHint,
  errorOf,
}: {
  form: ReturnType<typeof useVendorAccount>;
  /** What vendors are called. */
  label: string;
  /** Whether no other vendor can be chosen. */
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
              ['', 'Choose one'],
              ...data.map((each) => [each.provider, each.name] as const),
            ]}
            onChange={setProvider}
          />
        )}
      </QueryState>
      <TextField
        label="Key"
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
