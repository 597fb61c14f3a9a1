import type { ReactNode } from 'react';
import { Button } from './button';
import { EmptyState } from './layout';

/** What was asked for, as far as it is there. */
export interface Query<Data> {
  data: Data | undefined;
  error: Error | null;
  isFetching: boolean;
  refetch: () => unknown;
}

/**
 * What was asked for, once it is there: before that a skeleton, else what went wrong with a button to try again.
 * Data that is there stays while newer is read, even if that fails.
 *
 * @param isEmpty with `empty`: what stands there when there is nothing
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
        <EmptyState title="This could not be read">
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
          <span>Shown as it was before: {error.message}</span>
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
