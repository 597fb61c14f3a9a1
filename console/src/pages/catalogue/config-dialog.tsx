import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { formErrors } from '../../api/changes';
import type { components } from '../../api/schema';
import { Changes } from '../../parts/changes';
import { changesBetween, type Change } from '../../parts/changes-between';
import { Button, FormDialog, Notice, TextField, toast } from '../../ui';

type Changed = components['schemas']['ChangedConfig'];

export interface ChangeOptions {
  dry_run: boolean;
  /** Nothing is changed where somebody else was first. */
  expected_version?: number;
  comment?: string;
}

/**
 * A change of the configuration in two steps: what would differ, and then the change.
 *
 * @param latest the version that the form was filled from
 * @param send makes the change, or checks it with `dry_run`
 * @param known values of before that no version has said, by the path of the difference
 */
export function ConfigDialog({
  title,
  action,
  latest,
  send,
  known,
  onClose,
  children,
}: {
  title: string;
  action: string;
  latest: number | null;
  send: (options: ChangeOptions) => Promise<Changed>;
  known?: ReadonlyMap<string, unknown>;
  onClose: () => void;
  children: ReactNode;
}): ReactNode {
  const client = useQueryClient();
  const [comment, setComment] = useState('');
  const [preview, setPreview] = useState<Changed>();
  const change = useMutation({
    mutationFn: (dry_run: boolean) =>
      send({
        dry_run,
        ...(latest !== null && { expected_version: latest }),
        ...(comment && { comment }),
      }),
    onSuccess: async (changed, isDry) => {
      if (isDry) {
        setPreview(changed);
        return;
      }
      toast(changed.is_stored ? `Version ${changed.version} holds now.` : 'Nothing differs.');
      onClose();
      await client.invalidateQueries({ queryKey: ['admin', 'config'] });
    },
  });
  const errors = formErrors(change.error, ['comment']);
  const changes = preview && flat(preview.diff, known);
  return (
    <FormDialog
      wide
      title={title}
      action={preview ? action : 'Preview'}
      busy={change.isPending}
      disabled={preview?.diff.length === 0}
      error={errors.other}
      onSubmit={() => change.mutate(!preview)}
      onClose={onClose}
    >
      {changes ? (
        <>
          <Changes caption="What would change" changes={changes} empty="Nothing differs." />
          {preview.diff.length > 0 && (
            <Notice tone="info">
              It makes version {preview.version}, which holds for all instances within a second.
              Requests under way keep the prices that they were planned with.
            </Notice>
          )}
          <TextField
            label="Comment"
            hint="Why; versions show it"
            error={errors.of('comment')}
            value={comment}
            maxLength={1_000}
            onChange={setComment}
          />
          <div className="row">
            <Button
              onClick={() => {
                setPreview(undefined);
                change.reset();
              }}
            >
              Back to the form
            </Button>
          </div>
        </>
      ) : (
        children
      )}
    </FormDialog>
  );
}

/** Values one by one, also of what is new as a whole. */
function flat(diff: readonly Change[], known?: ReadonlyMap<string, unknown>): Change[] {
  return diff
    .flatMap(({ path, before, after }) => changesBetween(before, after, path))
    .map((change) => {
      const path = change.path.replaceAll('.pricing.', '/pricing/');
      const before = change.before ?? known?.get(path);
      return { ...change, path, ...(before !== undefined && { before }) };
    });
}
