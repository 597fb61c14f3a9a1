import { useQuery } from '@tanstack/react-query';
import { Navigate, useLocation } from '@tanstack/react-router';
import { Fragment, useEffect, type ReactNode } from 'react';
import { api } from '../api/client';
import { useSession, type Right } from '../session/session';
import { Button, ButtonLink, EmptyState, Page, QueryState, Skeleton } from '../ui';

/** Renders a page if the role may see it, and an explanation otherwise. */
export function AccessiblePage({
  right,
  children,
}: {
  right: Right;
  children: ReactNode;
}): ReactNode {
  const { can, tenant } = useSession();
  // Remounts for another tenant, so that no state of the previous one remains.
  if (can(right)) return <Fragment key={tenant?.id}>{children}</Fragment>;
  const needsTenant = !right.startsWith('operator:') && tenant === undefined;
  if (needsTenant && can('operator:read')) return <ChooseTenant />;
  return (
    <Page title="Access denied">
      <EmptyState title="Your role cannot open this page">
        <span>Ask an owner of the tenant or the operator to change your role.</span>
      </EmptyState>
    </Page>
  );
}

/** Shown to an operator without a selected tenant. Selects the tenant if there is only one. */
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
  // Otherwise operators start at their own pages.
  if (tenants.data && tenants.data.data.length !== 1 && pathname === '/') {
    return <Navigate to="/fleet" replace />;
  }
  return (
    <Page title="Select a tenant">
      <QueryState query={tenants}>
        {({ data }) =>
          data.length === 1 ? (
            <Skeleton />
          ) : (
            <EmptyState
              title={data.length === 0 ? 'No tenants yet' : 'This page shows a single tenant'}
            >
              {data.length > 0 ? (
                <span>Select one in the menu at the top or in the list.</span>
              ) : (
                <span>Create the first tenant to use this page.</span>
              )}
              <ButtonLink to="/tenants">Open tenants</ButtonLink>
            </EmptyState>
          )
        }
      </QueryState>
    </Page>
  );
}

export function NotFound(): ReactNode {
  return (
    <Page title="Page not found">
      <EmptyState title="This page does not exist">
        <ButtonLink to="/">Open the overview</ButtonLink>
      </EmptyState>
    </Page>
  );
}

/** Replaces a page that threw, or whose code could not be loaded. */
export function PageFailure({ error }: { error: unknown }): ReactNode {
  return (
    <Page title="Something went wrong">
      <div role="alert">
        <EmptyState title="This page could not be shown">
          <span>{error instanceof Error ? error.message : String(error)}</span>
          <span>If the gateway was just updated, reload the page.</span>
          <Button variant="primary" onClick={() => window.location.reload()}>
            Reload page
          </Button>
        </EmptyState>
      </div>
    </Page>
  );
}
