import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, idempotencyKey, useChange } from '../../api/changes';
import { formatCount, formatUsd } from '../../format/credits';
import { CreditsField, readCredits } from '../../parts/credits-field';
import { FormDialog, TextField, toast } from '../../ui';
import type { Tenant } from './tenant';

/**
 * Adds to a tenant's balance, or corrects it. One opened form has one `Idempotency-Key`: pressing twice, or
 * again after an answer was lost on the way, moves credits once.
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
      title={isGrant ? `Grant ${tenant.name} credits` : `Correct the balance of ${tenant.name}`}
      action={isGrant ? 'Grant' : 'Correct'}
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
              hint: `below 0 to take, at most the ${formatCount(tenant.available)} that are available`,
            })}
      />
      <TextField
        label="Memo"
        hint="Such as the number of an invoice. It stays in the ledger for good, so it names no person."
        error={errors.of('memo')}
        value={memo}
        onChange={setMemo}
      />
    </FormDialog>
  );
}
