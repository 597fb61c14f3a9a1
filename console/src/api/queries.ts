import {
  QueryClient,
  useInfiniteQuery,
  type InfiniteData,
  type UseInfiniteQueryResult,
} from '@tanstack/react-query';
import { ApiError } from './client';

/** One page of a list of the API. */
export interface CursorPage<Row> {
  data: Row[];
  has_more: boolean;
  next_cursor: string | null;
}

export type CursorList<Page> = UseInfiniteQueryResult<InfiniteData<Page>>;

/** Answers that a refusal will not change are not asked for again. */
const MAX_RETRIES = 2;

/** What the pages share: figures are fresh for 10 s, and what failed by chance is tried again. */
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

/** Milliseconds between two readings, which may depend on what was read; false: it is read once. */
type Interval<Page> =
  | number
  | false
  | ((query: { state: { data: InfiniteData<Page> | undefined } }) => number | false);

/**
 * A list that is read page by page.
 *
 * @param queryKey names the list and all its filters
 * @param read gets one page, by the parameters that the API takes for it
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
