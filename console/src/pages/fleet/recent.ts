import { formatCount, formatShare } from '../../format/credits';

interface Recent {
  seconds: number;
  requests: number;
  errors: number;
}

interface Hedging {
  requests: number;
  hedged: number;
  won: number;
}

interface InstanceLoad {
  recent: Recent | null;
  requests_in_flight: number | null;
  pending_settlements: number | null;
}

/** Formats a rate per second, or per minute below one per second: `12.4 /s`. */
export function rateOf({ requests, seconds }: Pick<Recent, 'requests' | 'seconds'>): string {
  const perSecond = seconds > 0 ? requests / seconds : 0;
  if (perSecond >= 1 || perSecond === 0) {
    return `${perSecond.toLocaleString('en-US', { maximumFractionDigits: 1 })} /s`;
  }
  return `${(perSecond * 60).toLocaleString('en-US', { maximumFractionDigits: 1 })} /min`;
}

/** Formats the share of eligible requests that were hedged. */
export function hedgedShare(hedging: Pick<Hedging, 'requests' | 'hedged'> | null): string {
  if (hedging === null || hedging.requests === 0) return '–';
  return formatShare(hedging.hedged / hedging.requests);
}

/** Describes hedging, including how often the hedge won. */
export function describeHedging(hedging: Hedging | null): string {
  if (hedging === null) return '–';
  if (hedging.requests === 0) return 'no eligible requests';
  const [all, hedged, won] = [hedging.requests, hedging.hedged, hedging.won].map(formatCount);
  return `${hedged} of the last ${all} eligible requests; the hedge won ${won}`;
}

/** Sums the load of all instances, whose intervals are about equal. */
export function sumOf(instances: readonly InstanceLoad[]) {
  const sum = { seconds: 0, requests: 0, errors: 0, inFlight: 0, pending: 0 };
  for (const { recent, requests_in_flight: inFlight, pending_settlements: pending } of instances) {
    sum.seconds = Math.max(sum.seconds, recent?.seconds ?? 0);
    sum.requests += recent?.requests ?? 0;
    sum.errors += recent?.errors ?? 0;
    sum.inFlight += inFlight ?? 0;
    sum.pending += pending ?? 0;
  }
  return sum;
}

/** Returns every hour from `start` (ms) to `now` with its group; undefined for hours without requests. */
export function hourSeries<Group extends { groups: Record<string, string | null> }>(
  start: number,
  groups: readonly Group[],
  now: number,
): { times: string[]; rows: (Group | undefined)[] } {
  const byHour = new Map(groups.map((group) => [Date.parse(group.groups['hour'] ?? ''), group]));
  const times: string[] = [];
  const rows: (Group | undefined)[] = [];
  for (let at = start; at <= now; at += 3_600_000) {
    times.push(new Date(at).toISOString());
    rows.push(byHour.get(at));
  }
  return { times, rows };
}

/** Returns the percentiles of the slowest instance, since percentiles cannot be summed; null without requests. */
export function slowestOf(
  instances: readonly {
    recent: { latency_p50: number | null; latency_p95: number | null } | null;
  }[],
): { p50: number; p95: number } | null {
  const known = instances.flatMap(({ recent }) =>
    recent?.latency_p50 == null ? [] : [{ p50: recent.latency_p50, p95: recent.latency_p95 ?? 0 }],
  );
  return known.reduce<{ p50: number; p95: number } | null>(
    (slowest, one) => (slowest && slowest.p95 >= one.p95 ? slowest : one),
    null,
  );
}
