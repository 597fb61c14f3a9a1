import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, ApiError } from '../api/client';
import type { components } from '../api/schema';
import { useSession } from '../session/session';
import { Button, Card, EmptyState, QueryState } from '../ui';
import { RequestContent } from './request-content';

interface ContentState {
  query: UseQueryResult<components['schemas']['RequestContent']>;
  isRequested: boolean;
  show: () => void;
}

/** Loads a request's prompt and answer on demand, since each read is recorded in the audit log. */
export function useContent(requestId: string, headers: Record<string, string> = {}): ContentState {
  const [requested, setRequested] = useState('');
  const isRequested = requested === requestId;
  const query = useQuery({
    queryKey: ['content', requestId, headers],
    queryFn: ({ signal }) =>
      api.GET('/v1/customer/logs/{request_id}/content', {
        params: { path: { request_id: requestId } },
        headers,
        signal,
      }),
    enabled: isRequested,
    staleTime: Infinity,
    retry: false,
  });
  return { query, isRequested, show: () => setRequested(requestId) };
}

/** Shows the content to roles that may read it. */
export function ContentCard({
  content: { query, isRequested, show },
}: {
  content: ContentState;
}): ReactNode {
  const { can } = useSession();
  if (!can('content')) return null;
  const isMissing = query.error instanceof ApiError && query.error.status === 404;
  return (
    <Card title="Content">
      {!isRequested && (
        <div className="row">
          <Button onClick={show}>Show content</Button>
          <span className="muted">Reading it is recorded in the audit log.</span>
        </div>
      )}
      {isRequested && isMissing && (
        <EmptyState title="No stored content">
          Content logging was off for this request, or its content was deleted.
        </EmptyState>
      )}
      {isRequested && !isMissing && (
        <QueryState query={query}>{(found) => <RequestContent content={found} />}</QueryState>
      )}
    </Card>
  );
}
