import { useState, type ReactNode } from 'react';
import type { components } from '../../api/schema';
import { Button, Notice } from '../../ui';

type Check = components['schemas']['AccountCheck'];

/**
 * A form that verifies a key with a real call before saving. A key that fails can still be saved, because the
 * vendor may be unavailable.
 *
 * @param check,save reject for API errors, which `error` shows
 * @param values serialized form values; a result for other values is hidden
 * @param savedText message after saving
 */
export function CheckedForm({
  check,
  save,
  busy,
  error,
  values,
  savedText,
  children,
}: {
  check: () => Promise<Check>;
  save: () => Promise<unknown>;
  busy: boolean;
  error: string | undefined;
  values: string;
  savedText: string;
  children: ReactNode;
}): ReactNode {
  const [checked, setChecked] = useState<{ values: string; check: Check }>();
  const [done, setDone] = useState('');
  const failure = checked?.values === values && !checked.check.ok ? checked.check : undefined;
  const store = async () => {
    await save();
    setDone(savedText);
  };
  const submit = async () => {
    setDone('');
    const answer = await check();
    setChecked({ values, check: answer });
    if (answer.ok) await store();
  };
  // `error` shows API errors.
  const ignore = () => {};
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        submit().catch(ignore);
      }}
    >
      {children}
      {error !== undefined && <Notice tone="bad">{error}</Notice>}
      {failure && (
        <Notice tone="bad">
          {failure.message}
          <Button busy={busy} onClick={() => void store().catch(ignore)}>
            Save anyway
          </Button>
        </Notice>
      )}
      {done !== '' && (
        <Notice tone="good">
          <span>
            {checked?.check.ok && `${checked.check.message} `}
            {done}
          </span>
        </Notice>
      )}
      <div className="row">
        <Button type="submit" variant="primary" busy={busy}>
          Verify and save
        </Button>
      </div>
    </form>
  );
}
