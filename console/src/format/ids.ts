/** An id as its two ends, by which it is told from others: those of a month begin alike. */
export function shortId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}
