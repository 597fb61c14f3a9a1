/** How often one guardrail was triggered in one day or hour, as the API has it. */
export interface TriggerCount {
  time: string;
  guardrail_id: string;
  count: number;
}

/** What the page shows of the past. */
export const SPANS = [
  { id: '24h', label: 'Last 24 hours', hours: 24, interval: 'hour' },
  { id: '7d', label: 'Last 7 days', hours: 168, interval: 'day' },
  { id: '30d', label: 'Last 30 days', hours: 720, interval: 'day' },
  { id: '90d', label: 'Last 90 days', hours: 2_160, interval: 'day' },
] as const;
export type Span = (typeof SPANS)[number];

const HOUR_MS = 3_600_000;
/** So many lines can be told apart. */
const MAX_LINES = 5;

/** The first moment of a span: the beginning of a day or hour (UTC), so that the first figure is whole. */
export function startOf({ hours, interval }: Span, now: Date): Date {
  const sizeMs = sizeOf(interval);
  return new Date(Math.floor((now.getTime() - hours * HOUR_MS) / sizeMs) * sizeMs);
}

/**
 * A line for each of the guardrails that were triggered most, and one for all others; days and hours
 * without any count 0.
 *
 * @param nameOf the name of a guardrail by its id
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
  const rest = ids.slice(shown.length);
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
    series: rest.length === 0 ? series : [...series, lineOf(`${rest.length} others`, rest)],
  };
}

function sizeOf(interval: Span['interval']): number {
  return interval === 'hour' ? HOUR_MS : 24 * HOUR_MS;
}
