import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { RequestDetails } from '../../requests/request-details';
import { ButtonLink, Page } from '../../ui';

/** A request on its own page. */
export function RequestPage(): ReactNode {
  const { requestId = '' }: { requestId?: string } = useParams({ strict: false });
  return (
    <Page title="Request" actions={<ButtonLink to="/requests">All requests</ButtonLink>}>
      <RequestDetails requestId={requestId} />
    </Page>
  );
}
