import { useQuery } from '@tanstack/react-query';
import { Navigate, useLocation } from '@tanstack/react-router';
import { Fragment, useEffect, type ReactNode } from 'react';
import { api } from '../api/client';
import { useSession, type Right } from '../session/session';
import { Button, ButtonLink, EmptyState, Page, QueryState, Skeleton } from '../ui';

/** A page for who may see it; others are told so, since its data would be refused anyway. */
export function AccessiblePage({
  right,
  children,
}: {
  right: Right;
  children: ReactNode;
}): ReactNode {
  const { can, tenant } = useSession();
  // Begun anew for another tenant: nothing of the one before may stay on the screen.
  if (can(right)) return <Fragment key={tenant?.id}>{children}</Fragment>;
  const needsTenant = !right.startsWith('operator:') && tenant === undefined;
  if (needsTenant && can('operator:read')) return <ChooseTenant />;
  return (
    <Page title="Not for your role">
      <EmptyState title="Your role does not open this page">
        <span>An owner of the tenant, or the operator, can change your role.</span>
      </EmptyState>
    </Page>
  );
}

/** For an operator who has chosen no tenant. Where there is only one, as after the first start, it is that. */
function ChooseTenant(): ReactNode {
  const { chooseTenant } = useSession();
  const tenants = useQuery({
    queryKey: ['tenants', 'first'],
    queryFn: ({ signal }) =>
      api.GET('/v1/admin/tenants', { params: { query: { status: 'active', limit: 2 } }, signal }),
  });
  const { pathname } = useLocation();
  const [first, ...others] = tenants.data?.data ?? [];
  useEffect(() => {
    if (first && others.length === 0) chooseTenant({ id: first.id, name: first.name });
  }, [first, others.length, chooseTenant]);
  // An operator of several tenants, or of none, begins with what is theirs.
  if (tenants.data && tenants.data.data.length !== 1 && pathname === '/') {
    return <Navigate to="/fleet" replace />;
  }
  return (
    <Page title="Choose a tenant">
      <QueryState query={tenants}>
        {({ data }) =>
          data.length === 1 ? (
            <Skeleton />
          ) : (
            <EmptyState
              title={data.length === 0 ? 'There is no tenant yet' : 'This page is about one tenant'}
            >
              {data.length > 0 && <span>Choose one in the menu at the top, or in the list.</span>}
              <ButtonLink to="/tenants">Tenants</ButtonLink>
            </EmptyState>
          )
        }
      </QueryState>
    </Page>
  );
}

export function NotFound(): ReactNode {
  return (
    <Page title="Not found">
      <EmptyState title="There is no such page">
        <ButtonLink to="/">To the overview</ButtonLink>
      </EmptyState>
    </Page>
  );
}

/** What stands in place of a page that broke, or whose code could not be fetched. */
export function PageFailure({ error }: { error: unknown }): ReactNode {
  return (
    <Page title="This page failed">
      <div role="alert">
        <EmptyState title="This page failed">
          <span>{error instanceof Error ? error.message : String(error)}</span>
          <span>After an update of the gateway, loading it again is all that is needed.</span>
          <Button variant="primary" onClick={() => window.location.reload()}>
            Load again
          </Button>
        </EmptyState>
      </div>
    </Page>
  );
}
