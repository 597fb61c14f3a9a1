/** New rows above a list that has been read. */
export interface Tail<Row> {
  /** Newest first, by id. */
  readonly rows: readonly Row[];
  /** Highest id known after each of the last polls. */
  readonly seen: readonly string[];
}

/** Polls that are repeated, since a row may become visible after one with a higher id. */
const OVERLAP_POLLS = 3;
/** A list with more new rows than this is refetched. */
export const MAX_TAIL_ROWS = 500;

/** Rows that are reread, since lower ids may have been in flight while the list was read. */
const OVERLAP_ROWS = 20;

export function startTail<Row extends { id: string }>(known: readonly Row[]): Tail<Row> {
  const ids = known.map(({ id }) => id).sort((one, other) => Number(other) - Number(one));
  return { rows: [], seen: [ids[Math.min(OVERLAP_ROWS, ids.length) - 1] ?? '0'] };
}

/** Returns the id that the next poll starts after. */
export function sinceIdOf({ seen }: Tail<unknown>): string {
  return seen[0] ?? '0';
}

/** Adds the rows found by a poll, without those already known. */
export function growTail<Row extends { id: string }>(
  tail: Tail<Row>,
  found: readonly Row[],
  listed: ReadonlySet<string>,
): Tail<Row> {
  const known = new Set(tail.rows.map(({ id }) => id));
  const fresh = found.filter(({ id }) => !known.has(id) && !listed.has(id));
  const rows = [...fresh, ...tail.rows].sort((one, other) => Number(other.id) - Number(one.id));
  const highest = highestId(found) ?? tail.seen.at(-1) ?? '0';
  const last = tail.seen.at(-1) ?? '0';
  const seen = [...tail.seen, Number(highest) > Number(last) ? highest : last];
  return { rows: fresh.length === 0 ? tail.rows : rows, seen: seen.slice(-OVERLAP_POLLS) };
}

function highestId(rows: readonly { id: string }[]): string | undefined {
  return rows.reduce<string | undefined>(
    (highest, { id }) => (highest === undefined || Number(id) > Number(highest) ? id : highest),
    undefined,
  );
}
