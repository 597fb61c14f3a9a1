/** Time ranges that end now. */
export const RANGES: readonly { id: string; label: string; hours: number }[] = [
  { id: '1h', label: 'Last hour', hours: 1 },
  { id: '24h', label: 'Last 24 hours', hours: 24 },
  { id: '7d', label: 'Last 7 days', hours: 168 },
  { id: '30d', label: 'Last 30 days', hours: 720 },
];

/** The ranges as select options. */
export const RANGE_OPTIONS = RANGES.map(({ id, label }) => [id, label] as const);

/** Returns the start of a range in the API's format; undefined for an unknown range. */
export function startOfRange(range: string | undefined, now: Date): string | undefined {
  const hours = RANGES.find(({ id }) => id === range)?.hours;
  return hours === undefined
    ? undefined
    : new Date(now.getTime() - hours * 3_600_000).toISOString();
}
