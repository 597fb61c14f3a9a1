import { Navigate, Outlet, useLocation, useMatches } from '@tanstack/react-router';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { personOf, SessionProvider, useLogin, type Session } from '../session/session';
import { QueryState, Toasts } from '../ui';
import { Shell } from './shell';

const SessionEnded = lazy(async () => ({
  default: (await import('./session-ended')).SessionEnded,
}));

/** Everything on the screen: the login, or the page in its frame. */
export function Root(): ReactNode {
  const { session, error, retry } = useLogin();
  const { pathname, searchStr } = useLocation();
  // The address is ahead of what the outlet shows: a page that needs a session may still stand there.
  const isLogin = useMatches({ select: (all) => all.some(({ routeId }) => routeId === '/login') });
  // What was on the screen stays under the login when a session ends, with all that was typed.
  const [last, setLast] = useState<Session>();
  if (session && session !== last) setLast(session);
  if (isLogin) return <Outlet />;
  if (session === null && !last) {
    if (pathname === '/login') return null;
    const to = pathname + searchStr;
    return <Navigate to="/login" search={to === '/' ? {} : { to }} replace />;
  }
  return (
    <>
      <QueryState query={{ data: session ?? last, error, isFetching: false, refetch: retry }}>
        {(known) => (
          // Nothing of one person is left on the screen for another.
          <SessionProvider
            key={personOf(known)}
            session={known}
            onLogOut={() => setLast(undefined)}
          >
            <Shell>
              <Outlet />
            </Shell>
            <Suspense>
              {session === null && <SessionEnded returnTo={pathname + searchStr} />}
            </Suspense>
          </SessionProvider>
        )}
      </QueryState>
      <Toasts />
    </>
  );
}
