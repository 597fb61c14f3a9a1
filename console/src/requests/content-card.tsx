import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, ApiError } from '../api/client';
import type { components } from '../api/schema';
import { useSession } from '../session/session';
import { Button, Card, EmptyState, QueryState } from '../ui';
import { RequestContent } from './request-content';

interface ContentState {
  query: UseQueryResult<components['schemas']['RequestContent']>;
  isWanted: boolean;
  show: () => void;
}

/** What was said in a request. Reading it is an entry of the audit log, and so nothing that a page does by itself. */
export function useContent(requestId: string, headers: Record<string, string> = {}): ContentState {
  const [wanted, setWanted] = useState('');
  const isWanted = wanted === requestId;
  const query = useQuery({
    queryKey: ['content', requestId, headers],
    queryFn: ({ signal }) =>
      api.GET('/v1/customer/logs/{request_id}/content', {
        params: { path: { request_id: requestId } },
        headers,
        signal,
      }),
    enabled: isWanted,
    staleTime: Infinity,
    retry: false,
  });
  return { query, isWanted, show: () => setWanted(requestId) };
}

/** The same in a card, for who may read it. */
export function ContentCard({
  content: { query, isWanted, show },
}: {
  content: ContentState;
}): ReactNode {
  const { can } = useSession();
  if (!can('content')) return null;
  const isMissing = query.error instanceof ApiError && query.error.status === 404;
  return (
    <Card title="Content">
      {!isWanted && (
        <div className="row">
          <Button onClick={show}>Show content</Button>
          <span className="muted">Reading it is an entry of the audit log.</span>
        </div>
      )}
      {isWanted && isMissing && (
        <EmptyState title="Nothing is kept of this request">
          The content log was off, or what it had is deleted.
        </EmptyState>
      )}
      {isWanted && !isMissing && (
        <QueryState query={query}>{(found) => <RequestContent content={found} />}</QueryState>
      )}
    </Card>
  );
}
