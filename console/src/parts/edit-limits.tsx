import { useState, type ReactNode } from 'react';
import { errorElsewhere, useChange } from '../api/changes';
import { FormDialog, toast } from '../ui';
import { fromDraft, toDraft, type Limits, type LimitsState } from './limits-draft';
import { LimitsFields, limitParams } from './limits-fields';

/**
 * A window in which limits are changed, all at once.
 *
 * @param save sets them in place of those of before
 * @param path what the API puts before the names of fields
 */
export function EditLimits({
  title,
  state,
  save,
  touches,
  path = '',
  onClose,
}: {
  title: string;
  state: LimitsState;
  save: (limits: Limits) => Promise<unknown>;
  touches: readonly string[];
  path?: string;
  onClose: () => void;
}): ReactNode {
  const [draft, setDraft] = useState(() => toDraft(state));
  const change = useChange(save, touches, () => {
    toast('The limits hold on every instance within a second.');
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
