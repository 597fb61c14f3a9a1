/** Shortens an id to its two ends. Time-ordered ids share their beginning, so both are needed. */
export function shortId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}
