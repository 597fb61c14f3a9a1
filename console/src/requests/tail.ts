/** Rows that a list shows above what it was read with. */
export interface Tail<Row> {
  /** Newest first, the one with the highest id at the top. */
  readonly rows: readonly Row[];
  /** The highest id that each of the last looks knew. */
  readonly seen: readonly string[];
}

/** Looks that are gone over again: a row may come to light a moment after one with a higher id. */
const LOOKS_AGAIN = 3;
/** A list that grows for longer than that is read anew. */
export const MAX_TAIL_ROWS = 500;

/** A list may have been read while rows with lower ids than its highest were still being written. */
const ROWS_AGAIN = 20;

export function startTail<Row extends { id: string }>(known: readonly Row[]): Tail<Row> {
  const ids = known.map(({ id }) => id).sort((one, other) => Number(other) - Number(one));
  return { rows: [], seen: [ids[Math.min(ROWS_AGAIN, ids.length) - 1] ?? '0'] };
}

/** The id after which the next look asks. */
export function sinceIdOf({ seen }: Tail<unknown>): string {
  return seen[0] ?? '0';
}

/** The tail with what a look has found, without what the tail or the list has already. */
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
  return { rows: fresh.length === 0 ? tail.rows : rows, seen: seen.slice(-LOOKS_AGAIN) };
}

function highestId(rows: readonly { id: string }[]): string | undefined {
  return rows.reduce<string | undefined>(
    (highest, { id }) => (highest === undefined || Number(id) > Number(highest) ? id : highest),
    undefined,
  );
}
