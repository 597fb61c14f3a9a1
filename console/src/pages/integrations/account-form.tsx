import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { useVendorAccount, VendorAccountFields } from '../../parts/vendor-account';
import { Button, Checkbox, FormDialog, TextField, toast } from '../../ui';
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
  const [name, setName] = useState(replaces?.name ?? '');
  const [isShared, setIsShared] = useState(replaces?.allow_shared_fallback ?? false);
  const form = useVendorAccount(replaces);
  const { account, offer } = form;
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
  const errors = formErrors(test.error ?? save.error, ['name', ...form.params]);
  return (
    <FormDialog
      title={replaces ? `Replace the key of ${nameOf(replaces)}` : 'Add an account'}
      busy={save.isPending}
      error={errors.other}
      onClose={onClose}
      onSubmit={() => {
        test.reset();
        save.mutate();
      }}
    >
      <VendorAccountFields
        form={form}
        label="Provider"
        isFixed={replaces !== undefined}
        keyHint={`${offer?.key_description ?? ''} It is stored encrypted and never shown again.`.trim()}
        errorOf={errors.of}
      />
      <TextField
        label="Name (optional)"
        error={errors.of('name')}
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
          disabled={account.provider === '' || account.key === ''}
          onClick={() => {
            save.reset();
            test.mutate(tested);
          }}
        >
          Test
        </Button>
      </div>
      {test.data && test.variables === tested && <TestResult {...test.data} />}
    </FormDialog>
  );
}
