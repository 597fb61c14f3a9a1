import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { useVendorAccount, VendorAccountFields } from '../../parts/vendor-account';
import { CheckedForm } from './checked-form';

/** Adds a BYOK account. */
export function OwnAccount(): ReactNode {
  const form = useVendorAccount();
  const { account: body, offer } = form;
  const check = useChange(() => api.POST('/v1/customer/provider-credentials/test', { body }), []);
  // The form has already verified the key, and a failed key is saved on request.
  const save = useChange(
    () => api.POST('/v1/customer/provider-credentials', { body: { ...body, check: false } }),
    ['accounts', 'models'],
    () => form.setKey(''),
  );
  const error = formErrors(check.error ?? save.error, form.params);
  return (
    <CheckedForm
      check={() => check.mutateAsync()}
      save={() => save.mutateAsync()}
      busy={check.isPending || save.isPending}
      error={error.other}
      savedText={`The account with ${offer?.name ?? body.provider} is saved. Its models are available now.`}
      values={JSON.stringify(body)}
    >
      <VendorAccountFields
        form={form}
        label="Vendor"
        keyHint={offer?.key_description}
        errorOf={error.of}
      />
    </CheckedForm>
  );
}
