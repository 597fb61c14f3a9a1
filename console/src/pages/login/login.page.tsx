import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { api } from '../../api/client';
import { LoginForms } from '../../session/login-forms';
import { useForgetSession } from '../../session/session';
import { Notice } from '../../ui';

/** Login by API key, single sign-on or one-time link. */
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

/** Consumes a one-time token in the URL fragment, `#link=…`, which is never sent to the server. */
function useLinkLogin(enter: () => Promise<void>) {
  const login = useMutation({
    mutationFn: (token: string) => api.POST('/v1/auth/link', { body: { token } }),
    onSuccess: enter,
  });
  const token = useRef(new URLSearchParams(window.location.hash.slice(1)).get('link'));
  const { mutate } = login;
  useEffect(() => {
    if (token.current === null) return;
    // Removes the used token from the history.
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

/** Accepts console paths only, to prevent open redirects. */
function pathOf(to: string | undefined): string {
  return to !== undefined && /^\/(?![/\\])/.test(to) ? to : '/';
}
