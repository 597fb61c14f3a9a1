import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { growTail, MAX_TAIL_ROWS, sinceIdOf, startTail, type Tail } from './tail';

const POLL_MS = 2_000;
/** Below this scroll position new rows wait, so that the list does not move while it is read. */
const TOP_PX = 120;

/** The result of a poll. */
export interface NewerRows<Row> {
  data: Row[];
  has_more: boolean;
}

/**
 * Polls every 2 s for rows newer than a list, while live updates are on and the tab is visible.
 *
 * @param listed rows of the list; undefined while it loads
 * @param onBehind called when there are more new rows than a poll returns, to refetch the list
 */
export function useTail<Row extends { id: string }>({
  name,
  filters,
  listed,
  isLive,
  read,
  onBehind,
}: {
  name: string;
  filters: object;
  listed: readonly Row[] | undefined;
  isLive: boolean;
  read: (sinceId: string, signal: AbortSignal) => Promise<NewerRows<Row>>;
  onBehind: () => void;
}): {
  rows: readonly Row[];
  /** New rows since live updates were turned on, shown or not. */
  arrived: number;
  waiting: number;
  show: () => void;
  error: Error | null;
} {
  const tail = useRef<Tail<Row> | undefined>(undefined);
  const [shown, setShown] = useState<readonly Row[]>([]);
  const [waiting, setWaiting] = useState(0);
  const [arrived, setArrived] = useState(0);
  const client = useQueryClient();
  const key = JSON.stringify(filters);
  const ids = useMemo(() => new Set(listed?.map(({ id }) => id)), [listed]);
  const reset = () => {
    tail.current = undefined;
    setShown([]);
    setWaiting(0);
  };
  useEffect(() => {
    reset();
    setArrived(0);
  }, [key, isLive]);

  const show = () => {
    setShown(tail.current?.rows ?? []);
    setWaiting(0);
  };
  const poll = useQuery({
    queryKey: [name, 'tail', key],
    queryFn: async ({ signal }) => {
      const before = tail.current ?? startTail(listed ?? []);
      const page = await read(sinceIdOf(before), signal);
      const next = growTail(before, page.data, ids);
      setArrived((count) => count + next.rows.length - before.rows.length);
      if (page.has_more || next.rows.length > MAX_TAIL_ROWS) {
        reset();
        onBehind();
        return null;
      }
      tail.current = next;
      if (window.scrollY < TOP_PX) show();
      else setWaiting(next.rows.length - shown.length);
      return null;
    },
    enabled: isLive && listed !== undefined,
    refetchInterval: POLL_MS,
    gcTime: 0,
    staleTime: 0,
  });
  useEffect(
    () => () => client.removeQueries({ queryKey: [name, 'tail', key] }),
    [client, name, key],
  );

  const rows = useMemo(() => shown.filter(({ id }) => !ids.has(id)), [shown, ids]);
  return { rows, arrived, waiting, show, error: isLive ? poll.error : null };
}
