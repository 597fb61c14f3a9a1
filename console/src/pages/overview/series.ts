import type { components } from '../../api/schema';

type Group = components['schemas']['AnalyticsGroup'];

export interface DayGroup {
  sums: components['schemas']['LogSums'];
}

const DAY_MS = 86_400_000;

/** Every day (UTC) from `start` to `now`, and its group: a day without requests has none. */
export function daySeries(
  start: string,
  groups: readonly Group[],
  now: Date,
): { times: string[]; rows: (Group | undefined)[] } {
  const byDay = new Map(groups.map((group) => [dayOf(group), group]));
  const times = daysFrom(start, now);
  return {
    times: times.map((day) => `${day}T00:00:00Z`),
    rows: times.map((day) => byDay.get(day)),
  };
}

/** The tokens of each of `names`, day by day; one that is missing on a day is 0. */
export function stackedDays(
  start: string,
  by: string,
  names: readonly string[],
  groups: readonly Group[],
  now: Date,
): { times: string[]; series: { label: string; values: number[] }[] } {
  const tokens = new Map(
    groups.map((group) => [`${dayOf(group)} ${group.groups[by] ?? ''}`, group.tokens.total]),
  );
  const days = daysFrom(start, now);
  return {
    times: days.map((day) => `${day}T00:00:00Z`),
    series: names.map((name) => ({
      label: name === '' ? '(none)' : name,
      values: days.map((day) => tokens.get(`${day} ${name}`) ?? 0),
    })),
  };
}

function dayOf({ groups }: Group): string {
  return (groups['day'] ?? '').slice(0, 10);
}

function daysFrom(start: string, now: Date): string[] {
  const days: string[] = [];
  for (let at = Date.parse(start); at <= now.getTime(); at += DAY_MS) {
    days.push(new Date(at).toISOString().slice(0, 10));
  }
  return days;
}
