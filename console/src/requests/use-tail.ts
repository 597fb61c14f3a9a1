import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { growTail, MAX_TAIL_ROWS, sinceIdOf, startTail, type Tail } from './tail';

const POLL_MS = 2_000;
/** Who has scrolled further is reading, and nothing may move under the eyes. */
const TOP_PX = 120;

/** What a look has found. */
export interface NewerRows<Row> {
  data: Row[];
  has_more: boolean;
}

/**
 * What was written since a list was read: looked for every 2 s while it is switched on and the tab is visible.
 *
 * @param listed the rows that the list shows already; undefined until they are there
 * @param onBehind there is more than a look can show, so that the list is to be read anew
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
  /** How many came since it was switched on, shown or not. */
  came: number;
  waiting: number;
  show: () => void;
  error: Error | null;
} {
  const tail = useRef<Tail<Row> | undefined>(undefined);
  const [shown, setShown] = useState<readonly Row[]>([]);
  const [waiting, setWaiting] = useState(0);
  const [came, setCame] = useState(0);
  const client = useQueryClient();
  const key = JSON.stringify(filters);
  const ids = useMemo(() => new Set(listed?.map(({ id }) => id)), [listed]);
  const forget = () => {
    tail.current = undefined;
    setShown([]);
    setWaiting(0);
  };
  useEffect(() => {
    forget();
    setCame(0);
  }, [key, isLive]);

  const show = () => {
    setShown(tail.current?.rows ?? []);
    setWaiting(0);
  };
  const look = useQuery({
    queryKey: [name, 'tail', key],
    queryFn: async ({ signal }) => {
      const before = tail.current ?? startTail(listed ?? []);
      const page = await read(sinceIdOf(before), signal);
      const next = growTail(before, page.data, ids);
      setCame((count) => count + next.rows.length - before.rows.length);
      if (page.has_more || next.rows.length > MAX_TAIL_ROWS) {
        forget();
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
  return { rows, came, waiting, show, error: isLive ? look.error : null };
}
