import {
  QueryClient,
  useInfiniteQuery,
  type InfiniteData,
  type UseInfiniteQueryResult,
} from '@tanstack/react-query';
import { ApiError } from './client';

/** A page of an API list. */
export interface CursorPage<Row> {
  data: Row[];
  has_more: boolean;
  next_cursor: string | null;
}

export type CursorList<Page> = UseInfiniteQueryResult<InfiniteData<Page>>;

/** Retries after network errors and 502 to 504. */
const MAX_RETRIES = 2;

/** Creates the query client: data stays fresh for 10 s, and transient errors are retried. */
export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        refetchOnWindowFocus: false,
        retry: (count, error) =>
          count < MAX_RETRIES &&
          error instanceof ApiError &&
          (error.status === 0 || error.status >= 502),
        retryDelay: (count) => 500 * 2 ** count,
      },
      mutations: { retry: false },
    },
  });
}

/** Milliseconds between refetches, possibly depending on the data; false disables them. */
type Interval<Page> =
  | number
  | false
  | ((query: { state: { data: InfiniteData<Page> | undefined } }) => number | false);

/**
 * Reads a list page by page.
 *
 * @param queryKey identifies the list with all its filters
 * @param read fetches one page with the API's cursor parameter
 */
export function useCursorList<Page extends { next_cursor?: string | null }>(
  queryKey: readonly unknown[],
  read: (page: { cursor?: string }, signal: AbortSignal) => Promise<Page>,
  options: { enabled?: boolean; refetchInterval?: Interval<Page> } = {},
): CursorList<Page> {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam: cursor, signal }) =>
      read(cursor === undefined ? {} : { cursor }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last: Page) => last.next_cursor ?? undefined,
    ...options,
  });
}
