import { Navigate, Outlet, useLocation, useMatches } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { SessionProvider, useLogin } from '../session/session';
import { QueryState, Toasts } from '../ui';
import { Shell } from './shell';

/** Everything on the screen: the login, or the page in its frame. */
export function Root(): ReactNode {
  const { session, error, retry } = useLogin();
  const { pathname, searchStr } = useLocation();
  // The address is ahead of what the outlet shows: a page that needs a session may still stand there.
  const isLogin = useMatches({ select: (all) => all.some(({ routeId }) => routeId === '/login') });
  if (isLogin) return <Outlet />;
  if (session === null) {
    if (pathname === '/login') return null;
    const to = pathname + searchStr;
    return <Navigate to="/login" search={to === '/' ? {} : { to }} replace />;
  }
  return (
    <>
      <QueryState query={{ data: session, error, isFetching: false, refetch: retry }}>
        {(known) => (
          <SessionProvider session={known}>
            <Shell>
              <Outlet />
            </Shell>
          </SessionProvider>
        )}
      </QueryState>
      <Toasts />
    </>
  );
}
