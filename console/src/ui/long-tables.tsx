import { useState, type ReactNode } from 'react';
import { Button } from './button';
import { DataTable, type TableProps } from './data-table';
import { QueryState, type Query } from './query-state';

/** A table over a paginated list; `MoreButton` loads the next page. */
export function PagedTable<Row>({
  query,
  ...table
}: TableProps<Row> & {
  query: Query<{ pages: readonly { data: readonly Row[] }[] }>;
}): ReactNode {
  return (
    <QueryState query={query}>
      {({ pages }) => <DataTable {...table} rows={pages.flatMap(({ data }) => data)} />}
    </QueryState>
  );
}

/** Loads the next page of a list, if there is one. */
export function MoreButton({
  query,
}: {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}): ReactNode {
  if (!query.hasNextPage) return null;
  return (
    <div className="row row-end">
      <Button busy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
        Show more
      </Button>
    </div>
  );
}

/** A table over a complete list that renders `step` more rows with each click. */
export function SteppedTable<Row>({
  rows,
  step,
  ...table
}: TableProps<Row> & { rows: readonly Row[]; step: number }): ReactNode {
  const [shown, setShown] = useState(step);
  return (
    <>
      <DataTable {...table} rows={rows.slice(0, shown)} />
      {rows.length > shown && (
        <div className="row row-end">
          <span className="muted">
            {shown} of {rows.length}
          </span>
          <Button onClick={() => setShown(shown + step)}>Show more</Button>
        </div>
      )}
    </>
  );
}
