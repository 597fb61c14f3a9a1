import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import { useSession } from '../../session/session';
import { Button, Code, Notice, TextField } from '../../ui';
import { storeFirstKey, readFirstKey } from './first-key';
import { ownKeys } from './steps';
import type { KnownHere } from './use-known';

/** Creates an API key and shows it until the tab is closed. */
export function KeyStep({ known }: { known: KnownHere }): ReactNode {
  const { tenant } = useSession();
  const [name, setName] = useState('my first key');
  const [key, setKey] = useState(() => readFirstKey(tenant?.id));
  const create = useChange(
    () => api.POST('/v1/customer/api-keys', { body: { name } }),
    ['api-keys'],
    (created) => {
      storeFirstKey(tenant?.id, created.key);
      setKey(created.key);
    },
  );
  const error = formErrors(create.error, ['name']);
  const others = ownKeys(known).length;
  return (
    <>
      <p>
        Your code authenticates with an API key. You can add limits, budgets and an expiry under{' '}
        <Link to="/keys">API keys</Link>.
      </p>
      {key !== undefined && (
        <>
          <Notice tone="warn">Copy it now. This tab shows it until you log out.</Notice>
          <Code text={key} label="Your key" />
        </>
      )}
      {key === undefined && others > 0 && (
        <Notice tone="good">
          You already have {others === 1 ? 'an API key' : `${others} API keys`}. Keys are shown only
          once; create another if you no longer have it.
        </Notice>
      )}
      <form
        className="row steps-form"
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
          {key === undefined ? 'Create key' : 'Create another key'}
        </Button>
      </form>
      {error.other !== undefined && <Notice tone="bad">{error.other}</Notice>}
    </>
  );
}
