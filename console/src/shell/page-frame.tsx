import { Navigate, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useSession, type Right } from '../session/session';
import { Button, ButtonLink, EmptyState, Page } from '../ui';

/** A page for who may see it; others are told so, since its data would be refused anyway. */
export function AccessiblePage({
  right,
  children,
}: {
  right: Right;
  children: ReactNode;
}): ReactNode {
  const { can, tenant } = useSession();
  const { pathname } = useLocation();
  if (can(right)) return children;
  const needsTenant = !right.startsWith('operator:') && tenant === undefined;
  // An operator begins with what is theirs.
  if (needsTenant && pathname === '/') return <Navigate to="/fleet" replace />;
  return (
    <Page title={needsTenant ? 'Choose a tenant' : 'Not for your role'}>
      <EmptyState
        title={needsTenant ? 'This page is about one tenant' : 'Your role does not open this page'}
      >
        {needsTenant ? (
          <>
            <span>Choose one in the menu at the top, or in the list.</span>
            <ButtonLink to="/tenants">Tenants</ButtonLink>
          </>
        ) : (
          <span>An owner of the tenant, or the operator, can change your role.</span>
        )}
      </EmptyState>
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
