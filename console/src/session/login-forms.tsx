import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api } from '../api/client';
import { Button, Card, QueryState, TextField } from '../ui';

const CONSOLE = '/console';

/**
 * Shows the available login methods: an API key, and single sign-on if configured.
 *
 * @param returnTo console page to open after single sign-on
 * @param onEnter called once the session is open
 */
export function LoginForms({
  returnTo,
  onEnter,
}: {
  returnTo: string;
  onEnter: () => Promise<void>;
}): ReactNode {
  const methods = useQuery({
    queryKey: ['login-methods'],
    queryFn: ({ signal }) => api.GET('/v1/auth', { signal }),
  });
  return (
    <QueryState query={methods}>
      {({ oidc, key }) => (
        <>
          {oidc && (
            <Card title="Single sign-on">
              <a
                className="button button-primary"
                href={`/v1/auth/login?return_to=${encodeURIComponent(CONSOLE + returnTo)}`}
              >
                Log in with SSO
              </a>
            </Card>
          )}
          {key && <KeyLogin onEnter={onEnter} />}
        </>
      )}
    </QueryState>
  );
}

function KeyLogin({ onEnter }: { onEnter: () => Promise<void> }): ReactNode {
  const [key, setKey] = useState('');
  const login = useMutation({
    mutationFn: () => api.POST('/v1/auth/key', { body: { key: key.trim() } }),
    onSuccess: onEnter,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    login.mutate();
  };
  return (
    <Card title="API key">
      <form className="form" onSubmit={submit}>
        <TextField
          label="Key"
          hint={
            <>
              A management key (<code>sk-mgmt-…</code>) or an operator key (<code>sk-admin-…</code>
              ).
            </>
          }
          error={login.error?.message}
          type="password"
          name="key"
          required
          autoFocus
          value={key}
          onChange={setKey}
        />
        <Button type="submit" variant="primary" busy={login.isPending}>
          Log in
        </Button>
      </form>
    </Card>
  );
}
