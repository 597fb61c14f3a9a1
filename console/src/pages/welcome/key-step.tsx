import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { useSession } from '../../session/session';
import { Button, Code, Notice, TextField } from '../../ui';
import { keepFirstKey, readFirstKey } from './first-key';
import { ownKeys } from './steps';
import type { KnownHere } from './use-known';

/** A key for code. It is shown once by the API, and here as long as the tab is open. */
export function KeyStep({ known }: { known: KnownHere }): ReactNode {
  const { tenant } = useSession();
  const [name, setName] = useState('my first key');
  const [key, setKey] = useState(() => readFirstKey(tenant?.id));
  const create = useChange(
    () => api.POST('/v1/customer/api-keys', { body: { name } }),
    ['api-keys'],
    (created) => {
      keepFirstKey(tenant?.id, created.key);
      setKey(created.key);
    },
  );
  const error = formErrors(create.error, ['name']);
  const others = ownKeys(known).length;
  return (
    <>
      <p>
        Your code calls the gateway with a key. Limits, budgets and an end can be given to it on the
        page <Link to="/keys">Keys</Link>.
      </p>
      {key !== undefined && (
        <>
          <Notice tone="warn">
            Copy it now. It is shown in this tab until you log out, and nowhere else.
          </Notice>
          <Code text={key} label="Your key" />
        </>
      )}
      {key === undefined && others > 0 && (
        <Notice tone="good">
          There {others === 1 ? 'is a key' : `are ${others} keys`} already. A key is shown only when
          it is made: where nobody has it any more, make another one.
        </Notice>
      )}
      <form
        className="row steps-ask"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <TextField
          label="Name"
          error={error.of('name')}
          required
          maxLength={255}
          value={name}
          onChange={setName}
        />
        <Button
          type="submit"
          variant={key === undefined ? 'primary' : 'default'}
          busy={create.isPending}
        >
          {key === undefined ? 'Make the key' : 'Make another'}
        </Button>
      </form>
      {error.other !== undefined && <Notice tone="bad">{error.other}</Notice>}
    </>
  );
}
