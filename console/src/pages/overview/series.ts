import type { components } from '../../api/schema';

type Group = components['schemas']['AnalyticsGroup'];

const DAY_MS = 86_400_000;

/** Returns every UTC day from `start` to `now` with its group; undefined for days without requests. */
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

/** Returns a daily series of a measure for each of `names`; missing days are 0. */
export function stackedDays(
  start: string,
  by: string,
  names: readonly string[],
  groups: readonly Group[],
  measure: (group: Group) => number,
  now: Date,
): { times: string[]; series: { label: string; values: number[] }[] } {
  const values = new Map(
    groups.map((group) => [`${dayOf(group)} ${group.groups[by] ?? ''}`, measure(group)]),
  );
  const days = daysFrom(start, now);
  return {
    times: days.map((day) => `${day}T00:00:00Z`),
    series: names.map((name) => ({
      label: name,
      values: days.map((day) => values.get(`${day} ${name}`) ?? 0),
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
