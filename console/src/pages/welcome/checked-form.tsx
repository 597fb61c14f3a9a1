import { useState, type ReactNode } from 'react';
import type { components } from '../../api/schema';
import { Button, Notice } from '../../ui';

type Check = components['schemas']['AccountCheck'];

/**
 * A form whose key is tried by a real call first. What fails that can be stored all the same, as the vendor
 * may just be away.
 *
 * @param check,save reject when the API refuses, which `error` tells
 * @param given changes with what is in the form: what was said of something else does not count
 * @param stored says that it is
 */
export function CheckedForm({
  check,
  save,
  busy,
  error,
  given,
  stored,
  children,
}: {
  check: () => Promise<Check>;
  save: () => Promise<unknown>;
  busy: boolean;
  error: string | undefined;
  given: string;
  stored: string;
  children: ReactNode;
}): ReactNode {
  const [checked, setChecked] = useState<{ given: string; check: Check }>();
  const [done, setDone] = useState('');
  const refusal = checked?.given === given && !checked.check.ok ? checked.check : undefined;
  const store = async () => {
    await save();
    setDone(stored);
  };
  const submit = async () => {
    setDone('');
    const answer = await check();
    setChecked({ given, check: answer });
    if (answer.ok) await store();
  };
  // What the API refuses is in `error`.
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
      {refusal && (
        <Notice tone="bad">
          {refusal.message}
          <Button busy={busy} onClick={() => void store().catch(ignore)}>
            Store it all the same
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
          Check and store
        </Button>
      </div>
    </form>
  );
}
