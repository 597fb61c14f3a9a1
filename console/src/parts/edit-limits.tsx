import { useState, type ReactNode } from 'react';
import { errorElsewhere, useChange } from '../api/changes';
import { FormDialog, toast } from '../ui';
import { fromDraft, toDraft, type Limits, type LimitsState } from './limits-draft';
import { LimitsFields, limitParams } from './limits-fields';

/**
 * A dialog that edits all limits at once.
 *
 * @param save replaces the limits
 * @param path prefix of the API's field names
 */
export function EditLimits({
  title,
  state,
  save,
  invalidates,
  path = '',
  onClose,
}: {
  title: string;
  state: LimitsState;
  save: (limits: Limits) => Promise<unknown>;
  invalidates: readonly string[];
  path?: string;
  onClose: () => void;
}): ReactNode {
  const [draft, setDraft] = useState(() => toDraft(state));
  const change = useChange(save, invalidates, () => {
    toast('Limits saved. They apply on every instance within a second.');
    onClose();
  });
  return (
    <FormDialog
      title={title}
      wide
      busy={change.isPending}
      error={errorElsewhere(change.error, limitParams(path))}
      onClose={onClose}
      onSubmit={() => change.mutate(fromDraft(draft))}
    >
      <LimitsFields draft={draft} onChange={setDraft} error={change.error} path={path} />
    </FormDialog>
  );
}
