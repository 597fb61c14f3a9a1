import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { errorAt, errorElsewhere, useChange } from '../../api/changes';
import {
  Button,
  Checkbox,
  FormDialog,
  Notice,
  QueryState,
  SelectField,
  TextField,
  toast,
} from '../../ui';
import { nameOf, TestResult, type Account } from './account';

/**
 * Adds an account.
 *
 * @param replaces with it, the new key is stored first and the account of before removed behind it, so
 *   that no request is without one
 */
export function AccountForm({
  replaces,
  onClose,
}: {
  replaces: Account | undefined;
  onClose: () => void;
}): ReactNode {
  const [provider, setProvider] = useState(replaces?.provider ?? '');
  const [name, setName] = useState(replaces?.name ?? '');
  const [key, setKey] = useState('');
  const [settings, setSettings] = useState<Record<string, string>>(replaces?.settings ?? {});
  const [isShared, setIsShared] = useState(replaces?.allow_shared_fallback ?? false);
  const offers = useQuery({
    queryKey: ['account-providers'],
    queryFn: ({ signal }) => api.GET('/v1/customer/provider-credentials/providers', { signal }),
    staleTime: 60_000,
  });
  const offer = offers.data?.data.find((each) => each.provider === provider);
  const given = Object.entries(settings).filter(([, value]) => value !== '');
  const account = { provider, key, settings: Object.fromEntries(given) };
  const tested = JSON.stringify(account);
  const test = useChange(
    (_: string) => api.POST('/v1/customer/provider-credentials/test', { body: account }),
    [],
  );
  const save = useChange(
    async (): Promise<string | undefined> => {
      const rest = { name: name || null, allow_shared_fallback: isShared };
      const { check } = await api.POST('/v1/customer/provider-credentials', {
        body: { ...account, ...rest },
      });
      if (check?.status === 'unreachable') toast(`Stored, but ${check.detail}`, 'warn');
      if (!replaces) return undefined;
      const params = { path: { id: replaces.id } };
      // The new key is stored by now: sending the form again would store it twice.
      return api.DELETE('/v1/customer/provider-credentials/{id}', { params }).then(
        () => undefined,
        (reason: unknown) => String(reason instanceof Error ? reason.message : reason),
      );
    },
    ['accounts', 'models'],
    (leftover) => {
      if (leftover === undefined) {
        toast(replaces ? 'The key is replaced.' : 'The account is stored.');
      } else {
        toast(`The new key is stored; remove the one before yourself: ${leftover}`, 'warn');
      }
      onClose();
    },
  );
  const names = (offer?.settings ?? []).map((setting) => `settings.${setting.name}`);
  const error = test.error ?? save.error;
  const other = errorElsewhere(error, ['provider', 'name', 'key', ...names]);
  return (
    <FormDialog
      title={replaces ? `Replace the key of ${nameOf(replaces)}` : 'Add an account'}
      busy={save.isPending}
      onClose={onClose}
      onSubmit={() => {
        test.reset();
        save.mutate(undefined);
      }}
    >
      <QueryState query={offers}>
        {({ data }) => (
          <SelectField
            label="Provider"
            error={errorAt(error, 'provider')}
            required
            disabled={replaces !== undefined}
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
        hint={`${offer?.key_description ?? ''} It is stored encrypted and never shown again.`.trim()}
        error={errorAt(error, 'key')}
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
          error={errorAt(error, `settings.${setting.name}`)}
          required={setting.is_required}
          value={settings[setting.name] ?? ''}
          onChange={(text) => setSettings({ ...settings, [setting.name]: text })}
        />
      ))}
      <TextField
        label="Name (optional)"
        error={errorAt(error, 'name')}
        value={name}
        maxLength={255}
        onChange={setName}
      />
      <Checkbox
        label="When this account fails, shared capacity may serve at its price"
        checked={isShared}
        onChange={setIsShared}
      />
      <div className="row">
        <Button
          busy={test.isPending}
          disabled={provider === '' || key === ''}
          onClick={() => {
            save.reset();
            test.mutate(tested);
          }}
        >
          Test
        </Button>
      </div>
      {test.data && test.variables === tested && <TestResult {...test.data} />}
      {other && <Notice tone="bad">{other}</Notice>}
    </FormDialog>
  );
}
