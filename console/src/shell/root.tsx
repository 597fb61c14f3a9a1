import { Navigate, Outlet, useLocation, useMatches } from '@tanstack/react-router';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { personOf, SessionProvider, useLogin, type Session } from '../session/session';
import { QueryState, Toasts } from '../ui';
import { Shell } from './shell';

const SessionEnded = lazy(async () => ({
  default: (await import('./session-ended')).SessionEnded,
}));

/** The login page, or the shell with the current page. */
export function Root(): ReactNode {
  const { session, error, retry } = useLogin();
  const { pathname, searchStr } = useLocation();
  // The location changes before the outlet does, so the outlet may still show a page that needs a session.
  const isLogin = useMatches({ select: (all) => all.some(({ routeId }) => routeId === '/login') });
  // After the session ends the page stays mounted below the login, with everything typed.
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
          // Remounts everything for another person.
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
