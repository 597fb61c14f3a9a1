import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { api, unwrap } from '../../api/client';
import { useForgetSession } from '../../session/session';
import { Button, Card, Field, Notice, QueryState, TextInput } from '../../ui';

const CONSOLE = '/console';

/** The login: by a key, by a login service where there is one, or by a link that is good once. */
export function LoginPage(): ReactNode {
  const { to }: { to?: string } = useSearch({ strict: false });
  const target = pathOf(to);
  const methods = useQuery({
    queryKey: ['login-methods'],
    queryFn: ({ signal }) => unwrap(api.GET('/v1/auth', { signal })),
  });
  const link = useLinkLogin(target);
  useEffect(() => {
    document.title = 'Log in · Model Gateway';
  }, []);
  return (
    <main className="login">
      <div>
        <h1>Model Gateway</h1>
        {link.isPending && <Notice tone="info">Logging you in…</Notice>}
        {link.error && <Notice tone="bad">{link.error.message}</Notice>}
        <QueryState query={methods}>
          {({ oidc, key }) => (
            <>
              {oidc && (
                <Card title="With your organisation's account">
                  <a
                    className="button button-primary"
                    href={`/v1/auth/login?return_to=${encodeURIComponent(CONSOLE + target)}`}
                  >
                    Log in
                  </a>
                </Card>
              )}
              {key && <KeyLogin target={target} />}
            </>
          )}
        </QueryState>
      </div>
    </main>
  );
}

function KeyLogin({ target }: { target: string }): ReactNode {
  const [key, setKey] = useState('');
  const enter = useEnter(target);
  const login = useMutation({
    mutationFn: () => unwrap(api.POST('/v1/auth/key', { body: { key: key.trim() } })),
    onSuccess: enter,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    login.mutate();
  };
  return (
    <Card title="With a key">
      <form className="form" onSubmit={submit}>
        <Field
          label="Key"
          hint={
            <>
              A management key (<code>sk-mgmt-…</code>), or the operator&apos;s (
              <code>sk-admin-…</code>).
            </>
          }
          error={login.error?.message}
        >
          <TextInput
            type="password"
            name="key"
            required
            autoFocus
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        </Field>
        <Button type="submit" variant="primary" busy={login.isPending}>
          Log in
        </Button>
      </form>
    </Card>
  );
}

/** Uses up the token that the address may end with, `#link=…`, which no server gets to see. */
function useLinkLogin(target: string) {
  const enter = useEnter(target);
  const login = useMutation({
    mutationFn: (token: string) => unwrap(api.POST('/v1/auth/link', { body: { token } })),
    onSuccess: enter,
  });
  const token = useRef(new URLSearchParams(window.location.hash.slice(1)).get('link'));
  const { mutate } = login;
  useEffect(() => {
    if (token.current === null) return;
    // It is good once: neither a reload nor the history shall offer it again.
    window.history.replaceState(window.history.state, '', window.location.pathname);
    mutate(token.current);
    token.current = null;
  }, [mutate]);
  return login;
}

function useEnter(target: string): () => Promise<void> {
  const navigate = useNavigate();
  const forgetSession = useForgetSession();
  return async () => {
    await forgetSession();
    await navigate({ href: target, replace: true });
  };
}

/** Only a path of the console: another address would send people elsewhere after their login. */
function pathOf(to: string | undefined): string {
  return to !== undefined && /^\/(?![/\\])/.test(to) ? to : '/';
}
