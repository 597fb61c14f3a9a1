import type { ReactNode } from 'react';
import { Button } from './button';
import { EmptyState } from './layout';

/** The part of a query result that `QueryState` needs. */
export interface Query<Data> {
  data: Data | undefined;
  error: Error | null;
  isFetching: boolean;
  refetch: () => unknown;
}

/**
 * Renders loaded data, a skeleton while loading, or the error with a retry button. Stale data stays visible
 * during a refetch, even if it fails.
 *
 * @param isEmpty renders `empty` instead of the data
 */
export function QueryState<Data>({
  query,
  isEmpty,
  empty,
  children,
}: {
  query: Query<Data>;
  isEmpty?: (data: Data) => boolean;
  empty?: ReactNode;
  children: (data: Data) => ReactNode;
}): ReactNode {
  const { data, error } = query;
  if (data === undefined && error) {
    return (
      <div role="alert">
        <EmptyState title="Could not load this data">
          <span>{error.message}</span>
          <Button busy={query.isFetching} onClick={() => query.refetch()}>
            Try again
          </Button>
        </EmptyState>
      </div>
    );
  }
  if (data === undefined) return <Skeleton />;
  if (isEmpty?.(data)) return empty;
  return (
    <>
      {error && (
        <div className="notice tone-warn" role="status">
          <span>Showing older data. Refreshing failed: {error.message}</span>
          <Button busy={query.isFetching} onClick={() => query.refetch()}>
            Try again
          </Button>
        </div>
      )}
      {children(data)}
    </>
  );
}

export function Skeleton(): ReactNode {
  return (
    <div role="status" data-skeleton="">
      <span className="visually-hidden">Loading…</span>
      <span className="skeleton" />
      <span className="skeleton" />
      <span className="skeleton" />
    </div>
  );
}
