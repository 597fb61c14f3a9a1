import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { useVendorAccount, VendorAccountFields } from '../../parts/vendor-account';
import { Button, Checkbox, FormDialog, TextField, toast } from '../../ui';
import { nameOf, TestResult, type Account } from './account';

/**
 * Adds a BYOK account.
 *
 * @param replaces account whose key is replaced: the new account is stored before the old one is deleted, so
 *   that requests always have an account
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
  const testedAccount = JSON.stringify(account);
  const test = useChange(
    (_: string) => api.POST('/v1/customer/provider-credentials/test', { body: account }),
    [],
  );
  const save = useChange(
    async (): Promise<string | undefined> => {
      const settings = { name: name || null, allow_shared_fallback: isShared };
      const { check } = await api.POST('/v1/customer/provider-credentials', {
        body: { ...account, ...settings },
      });
      if (check?.status === 'unreachable')
        toast(`Account saved, but not verified: ${check.detail}`, 'warn');
      if (!replaces) return undefined;
      const params = { path: { id: replaces.id } };
      // Errors are returned, since a resubmit would store the new key twice.
      return api.DELETE('/v1/customer/provider-credentials/{id}', { params }).then(
        () => undefined,
        (reason: unknown) => String(reason instanceof Error ? reason.message : reason),
      );
    },
    ['accounts', 'models'],
    (deleteError) => {
      if (deleteError === undefined) {
        toast(replaces ? 'Key replaced.' : 'Account added.');
      } else {
        toast(`The new key is saved. Remove the old account yourself: ${deleteError}`, 'warn');
      }
      onClose();
    },
  );
  const errors = formErrors(test.error ?? save.error, ['name', ...form.params]);
  return (
    <FormDialog
      title={replaces ? `Replace the key of ${nameOf(replaces)}` : 'Add BYOK account'}
      action={replaces ? 'Replace key' : 'Add account'}
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
        keyHint={`${offer?.key_description ?? ''} Stored encrypted and never shown again.`.trim()}
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
        label="Fall back to shared capacity, at its price, if this account fails"
        checked={isShared}
        onChange={setIsShared}
      />
      <div className="row">
        <Button
          busy={test.isPending}
          disabled={account.provider === '' || account.key === ''}
          onClick={() => {
            save.reset();
            test.mutate(testedAccount);
          }}
        >
          Test key
        </Button>
      </div>
      {test.data && test.variables === testedAccount && <TestResult {...test.data} />}
    </FormDialog>
  );
}
