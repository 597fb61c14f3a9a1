/** How often a guardrail matched in an interval. */
export interface TriggerCount {
  time: string;
  guardrail_id: string;
  count: number;
}

/** The time ranges of the page. */
export const SPANS = [
  { id: '24h', label: 'Last 24 hours', hours: 24, interval: 'hour' },
  { id: '7d', label: 'Last 7 days', hours: 168, interval: 'day' },
  { id: '30d', label: 'Last 30 days', hours: 720, interval: 'day' },
  { id: '90d', label: 'Last 90 days', hours: 2_160, interval: 'day' },
] as const;
export type Span = (typeof SPANS)[number];

const HOUR_MS = 3_600_000;
/** More lines would be hard to tell apart. */
const MAX_LINES = 5;

/** Returns the start of a range, at a whole day or hour in UTC, so that the first value is complete. */
export function startOf({ hours, interval }: Span, now: Date): Date {
  const sizeMs = sizeOf(interval);
  return new Date(Math.floor((now.getTime() - hours * HOUR_MS) / sizeMs) * sizeMs);
}

/**
 * Builds a line for each of the guardrails that matched most and one for all others. Intervals without
 * matches are 0.
 *
 * @param nameOf returns the name of a guardrail by id
 */
export function triggerLines(
  counts: readonly TriggerCount[],
  span: Span,
  now: Date,
  nameOf: (id: string) => string,
): { times: string[]; series: { label: string; values: number[] }[] } {
  const times: string[] = [];
  const startMs = startOf(span, now).getTime();
  for (let at = startMs; at <= now.getTime(); at += sizeOf(span.interval)) {
    times.push(new Date(at).toISOString());
  }
  const sums = new Map<string, number>();
  for (const { guardrail_id: id, count } of counts) sums.set(id, (sums.get(id) ?? 0) + count);
  const ids = [...sums].sort(([, one], [, other]) => other - one).map(([id]) => id);
  const shown = ids.length > MAX_LINES + 1 ? ids.slice(0, MAX_LINES) : ids;
  const others = ids.slice(shown.length);
  const lineOf = (label: string, members: readonly string[]) => {
    const values = times.map(() => 0);
    for (const { time, guardrail_id: id, count } of counts) {
      const at = Math.round((Date.parse(time) - startMs) / sizeOf(span.interval));
      if (members.includes(id) && at in values) values[at] = (values[at] ?? 0) + count;
    }
    return { label, values };
  };
  const series = shown.map((id) => lineOf(nameOf(id), [id]));
  return {
    times,
    series: others.length === 0 ? series : [...series, lineOf(`${others.length} others`, others)],
  };
}

function sizeOf(interval: Span['interval']): number {
  return interval === 'hour' ? HOUR_MS : 24 * HOUR_MS;
}
