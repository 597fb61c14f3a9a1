import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { api } from '../../api/client';
import { LoginForms } from '../../session/login-forms';
import { useForgetSession } from '../../session/session';
import { Notice } from '../../ui';

/** The login: by a key, by a login service where there is one, or by a link that is good once. */
export function LoginPage(): ReactNode {
  const { to }: { to?: string } = useSearch({ strict: false });
  const target = pathOf(to);
  const enter = useEnter(target);
  const link = useLinkLogin(enter);
  useEffect(() => {
    document.title = 'Log in · Model Gateway';
  }, []);
  return (
    <main className="login">
      <div>
        <h1>Model Gateway</h1>
        {link.isPending && <Notice tone="info">Logging you in…</Notice>}
        {link.error && <Notice tone="bad">{link.error.message}</Notice>}
        <LoginForms returnTo={target} onEnter={enter} />
      </div>
    </main>
  );
}

/** Uses up the token that the address may end with, `#link=…`, which no server gets to see. */
function useLinkLogin(enter: () => Promise<void>) {
  const login = useMutation({
    mutationFn: (token: string) => api.POST('/v1/auth/link', { body: { token } }),
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
