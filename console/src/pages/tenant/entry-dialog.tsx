import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, idempotencyKey, useChange } from '../../api/changes';
import { formatCount, formatUsd } from '../../format/credits';
import { CreditsField, readCredits } from '../../parts/credits-field';
import { FormDialog, TextField, toast } from '../../ui';
import type { Tenant } from './tenant';

/**
 * Grants credits or corrects the balance. Uses one `Idempotency-Key` per dialog, so that a repeated submit
 * moves credits once.
 */
export function EntryDialog({
  kind,
  tenant,
  onClose,
}: {
  kind: 'grant' | 'correction';
  tenant: Tenant;
  onClose: () => void;
}): ReactNode {
  const [key] = useState(idempotencyKey);
  const [credits, setCredits] = useState('');
  const [memo, setMemo] = useState('');
  const isGrant = kind === 'grant';
  const add = useChange(
    () => {
      const request = {
        params: {
          path: { tenant_id: tenant.id },
          header: { 'Idempotency-Key': key },
        },
        body: { credits: readCredits(credits) ?? 0, ...(memo && { memo }) },
      };
      return isGrant
        ? api.POST('/v1/admin/tenants/{tenant_id}/grants', request)
        : api.POST('/v1/admin/tenants/{tenant_id}/corrections', request);
    },
    ['admin'],
    ({ amount }) => {
      toast(
        `${isGrant ? 'Granted' : 'Corrected by'} ${formatCount(amount)} credits (${formatUsd(amount)}).`,
      );
      onClose();
    },
  );
  const errors = formErrors(add.error, ['credits', 'memo']);
  return (
    <FormDialog
      title={isGrant ? `Grant credits to ${tenant.name}` : `Correct the balance of ${tenant.name}`}
      action={isGrant ? 'Grant credits' : 'Correct balance'}
      busy={add.isPending}
      error={errors.other}
      onSubmit={() => add.mutate()}
      onClose={onClose}
    >
      <CreditsField
        label="Credits"
        value={credits}
        onChange={setCredits}
        error={errors.of('credits')}
        required
        {...(isGrant
          ? { min: 1 }
          : {
              hint: `negative to deduct, at most the ${formatCount(tenant.available)} available`,
            })}
      />
      <TextField
        label="Memo"
        hint="For example an invoice number. Kept in the ledger permanently, so do not enter personal data."
        error={errors.of('memo')}
        value={memo}
        onChange={setMemo}
      />
    </FormDialog>
  );
}
