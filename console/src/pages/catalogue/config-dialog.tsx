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
  /** Rejects the change if another version has been created since. */
  expected_version?: number;
  comment?: string;
}

/**
 * Changes the configuration after a preview of the differences.
 *
 * @param latest version that the form was filled from
 * @param send applies the change, or previews it with `dry_run`
 * @param known current values that no version contains, by path
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
      toast(changed.is_stored ? `Version ${changed.version} is in force.` : 'No changes to apply.');
      onClose();
      await client.invalidateQueries({ queryKey: ['admin', 'config'] });
    },
  });
  const errors = formErrors(change.error, ['comment']);
  const changes = preview && flatten(preview.diff, known);
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
          <Changes caption="Preview of changes" changes={changes} empty="No changes." />
          {preview.diff.length > 0 && (
            <Notice tone="info">
              This creates version {preview.version}, which applies to all instances within a
              second. Requests in progress keep their current prices.
            </Notice>
          )}
          <TextField
            label="Comment"
            hint="Shown in the version list"
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
              Back to form
            </Button>
          </div>
        </>
      ) : (
        children
      )}
    </FormDialog>
  );
}

/** Splits the differences into single values. */
function flatten(diff: readonly Change[], known?: ReadonlyMap<string, unknown>): Change[] {
  return diff
    .flatMap(({ path, before, after }) => changesBetween(before, after, path))
    .map((change) => {
      const path = change.path.replaceAll('.pricing.', '/pricing/');
      const before = change.before ?? known?.get(path);
      return { ...change, path, ...(before !== undefined && { before }) };
    });
}
