import { Navigate, Outlet, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { SessionProvider, useLogin } from '../session/session';
import { QueryState, Toasts } from '../ui';
import { Shell } from './shell';

/** Everything on the screen: the login, or the page in its frame. */
export function Root(): ReactNode {
  const { session, error, retry } = useLogin();
  const { pathname, searchStr } = useLocation();
  if (pathname === '/login') return <Outlet />;
  if (session === null) {
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
